"""Numbers only: the dual problem, the linear maps it is made of (terms), and its solvers."""
