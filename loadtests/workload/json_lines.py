"""Files of JSON, a line each value, compressed by gzip."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def read(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
