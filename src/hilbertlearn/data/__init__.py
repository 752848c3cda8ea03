"""What comes in and goes out: data frames, curves, structured objects, graphs, dates, batches of rows."""
