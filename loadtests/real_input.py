"""Ingests a real handbook of 158 files with the command, and asks some questions.

    python -m loadtests.real_input DATA

DATA is a folder that holds `edits_18f_handbook/snapshot.jsonl.gz`, lines of {path, text}.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from loadtests.workload import json_lines

_QUESTIONS = (
    "how do I get a travel card",
    "transit benefits for commuting",
    "return equipment when leaving",
    "shared Slack channels with partners",
    "repair my laptop",
    "report a security incident",
    "amend a travel authorization",
    "performance plan",
    "leave policies",
    "how to write a federal resume",
)


def main() -> None:
    data = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="nearhit-real-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # root's PostgreSQL runs as nobody, who must get in
        os.environ["NEARHIT_DATA_DIR"] = str(folder / "data")
        _unpack(data / "edits_18f_handbook" / "snapshot.jsonl.gz", folder / "handbook")
        for turn in ("first", "again"):
            started_s = time.perf_counter()
            _nearhit("ingest", str(folder / "handbook"))
            print(f"{turn}: {time.perf_counter() - started_s:.1f} s, start included\n", flush=True)
        for question in _QUESTIONS:
            print(f"? {question}", flush=True)
            _nearhit("search", question, "--top-k", "1")


def _unpack(snapshot: Path, folder: Path) -> None:
    for document in json_lines.read(snapshot):
        path = folder / document["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document["text"], encoding="utf-8")


def _nearhit(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "gateway", *arguments], check=True)  # noqa: S603  ours


if __name__ == "__main__":
    main()
