"""The process of `test_module_worker`: it does for so long, or so much, what it is asked."""

import os
import signal
import time
from pathlib import Path

from common.processes.module_worker import answer_requests


def _answer(deed: bytes, amount: bytes) -> bytes:
    match deed:
        case b"compute":
            until_s = time.process_time() + float(amount)
            while time.process_time() < until_s:
                pass
        case b"wait":
            time.sleep(float(amount))
        case b"die once":
            if not Path(amount.decode()).exists():
                Path(amount.decode()).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        case b"die":
            os.kill(os.getpid(), int(amount))
        case b"fill":
            bytearray(int(amount))
    return b"done"


if __name__ == "__main__":
    answer_requests(2, _answer)
