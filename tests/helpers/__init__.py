"""What several test files use: references computed by hand, small data, checks of messages."""
