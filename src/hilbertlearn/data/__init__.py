"""Inputs and outputs in every form: data frames, curves, structured objects, graphs, dates, batches of rows.

Decisions
---------
- *No imports.* pandas, polars, networkx and scikit-fda are recognised by their attributes, so none of them is
  imported to read data.
- *Frames.* The estimator, not the space, keeps the form of outputs: the index of predictions is that of X, which is
  known only at predict. Spaces work with arrays. Columns in another order are refused and not sorted, because a
  prediction would then differ from what its position means.
- *Dates* are days since an origin, the first date of the training data. An estimator keeps one origin for each input
  column (``X_origins_``). Functions keep theirs in ``Layout.origins`` and ``IrregularFunctions.origin``, and
  ``read_functions(origins=)`` expresses other functions in the origins of training. ``points_in`` reads points from
  column names: dates and times first, then a number in otherwise equal names, then ranges.
- *Objects.* Types decide what an output is, never lengths: numbers, arrays and lists of numbers are rows of numbers;
  anything else is an object that reaches kernels and losses unchanged. Ragged lists of numbers are objects. At
  predict, the form of the training data decides. Predictions that are sequences come in a list subclass that numpy
  converts to an array of objects, because scikit-learn concatenates folds this way.
- *Streams.* A source can be iterated any number of times and yields (X, y, sample_weight). A source that can be read
  once has ``repeatable = False``: a uniform sample of all rows is then replaced by the first rows. Samples are drawn
  by position where rows can be indexed, and otherwise in one pass that keeps the rows with the smallest random keys.
  ``BlockStore`` holds features for several passes: in memory up to a quarter of it, then in an unnamed file, which
  vanishes with the process; features that are computed faster than read, or have no room on the disk, are computed
  again in each pass. A small memory-mapped array is read into memory: scikit-learn passes arrays to other processes
  this way.
"""
