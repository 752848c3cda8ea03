"""Reports: one self-contained HTML page on a fitted model and its evaluation on test data.

``section`` collects numbers, tables and charts, ``html`` and ``write`` make a page of them. The collection asks
interfaces (``predict_links``, ``predict_topk``, ``space_.grids``, ``conformal_strategy``), never class names, and reads
public attributes only. Each kind of output has one function that returns a ``ModelEvaluation``.

Charts are data: series of numbers and names in views, which one small script draws. Text and tables are markup, so that
they print and need no script. Of many samples only some are drawn, the worst among them, and the page says so.

Cross-validated errors are compared within a stage of the search only: one method, one number of samples, and as long as
no setting returns with another error. The score of a reference comes with the same score of the model: a report never
converts one scale into another. Text from data becomes text nodes; the content policy of the page allows its own script
by hash and nothing else.
"""

from .page import html, write
from .parts import Section
from .sections import section

__all__ = ["Section", "html", "section", "write"]
