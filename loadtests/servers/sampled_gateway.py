"""A gateway that samples which file it runs, a thousand times per second of processor time.

    python -m loadtests.servers.sampled_gateway FILE serve --port 0

At its end it writes to FILE, as JSON, how often each file of the packages was the innermost one on
the stack. SIGUSR1 resets the counts, after a warm-up.
"""

import json
import runpy
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

_EVERY_S = 0.001

_seen: Counter[str] = Counter()
_known: dict[str, str | None] = {}


def main() -> None:
    output = Path(sys.argv[1])
    sys.argv[1:2] = []
    signal.signal(signal.SIGPROF, _look)
    signal.signal(signal.SIGUSR1, lambda *_: _seen.clear())
    signal.setitimer(signal.ITIMER_PROF, _EVERY_S, _EVERY_S)
    try:
        runpy.run_module("gateway", run_name="__main__", alter_sys=False)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        output.write_text(json.dumps(_seen))


def _look(_: int, frame: FrameType | None) -> None:
    while frame is not None:
        name = frame.f_code.co_filename
        if name not in _known:
            _known[name] = _place(name)
        file_name = _known[name]
        if file_name is not None:
            _seen[file_name] += 1
            return
        frame = frame.f_back
    _seen["others"] += 1


def _place(name: str) -> str | None:
    """The file within one of our packages, or `server`; None for the libraries that they call."""
    parts = Path(name).parts
    for package in ("gateway", "cache", "index", "ingest", "common"):
        if package in parts:
            return "/".join(parts[parts.index(package) :])
    return "server" if "uvicorn" in parts else None


if __name__ == "__main__":
    main()
