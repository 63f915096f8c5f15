"""The gateway: authentication, the HTTP API, commands and workers."""

import os

# NumPy reads this when it is loaded. A product with one vector takes a tenth of a millisecond; on a
# busy machine the threads of OpenBLAS wait many times as long for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
