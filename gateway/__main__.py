"""`python -m gateway` is the `nearhit` command; installed, `python -m nearhit` is."""

import signal

# Until the command begins Ctrl-C ends the process at once: there is nothing to clean up, and Python
# would print where in the imports it was.
if __name__ != "__mp_main__":  # a process that `multiprocessing` spawns
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from gateway.cli.main import app

if __name__ == "__main__":
    app()
