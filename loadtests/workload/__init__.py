"""The workload: the questions of each caller, the writes, and the rights to read them."""
