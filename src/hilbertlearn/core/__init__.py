"""The dual problem (`problem`), the linear maps it consists of (`terms`), and its solvers (`solvers`).

This package works on arrays only. It knows no estimator, no data frame and no curve.
"""
