"""The process of `test_module_worker`: it does for so long, or so much, what it is asked."""

import time

from common.processes.module_worker import answer_requests


def _answer(deed: bytes, amount: bytes) -> bytes:
    match deed:
        case b"compute":
            until_s = time.process_time() + float(amount)
            while time.process_time() < until_s:
                pass
        case b"wait":
            time.sleep(float(amount))
        case b"fill":
            bytearray(int(amount))
    return b"done"


if __name__ == "__main__":
    answer_requests(2, _answer)
