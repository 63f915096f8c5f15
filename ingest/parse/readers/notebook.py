"""Jupyter notebooks: the cells, and the text of their outputs."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ingest.parse.extracted import Extracted, ReadOptions, Unreadable
from ingest.parse.readers.source_code import fenced

OUTPUT_CHARACTERS_MAX = 4_000  # of a cell; a starting value: a longer one is a log, or data


def read(content: bytes, _options: ReadOptions) -> Extracted:
    """Raises `Unreadable`."""
    notebook = json.loads(content)
    sheets = notebook.get("worksheets") or [notebook]  # version 3 has sheets
    cells = [cell for sheet in sheets for cell in sheet["cells"]]
    metadata = notebook.get("metadata", {})
    language = metadata.get("kernelspec", {}).get("language") or "python"
    text = "\n\n".join(part for cell in cells for part in _cell(cell, str(language)))
    if not text.strip():
        raise Unreadable("has no text")
    return Extracted(text, losses=[*_losses(cells)])


def _cell(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input", "")))
    if cell.get("cell_type") != "code":
        yield f"# {source}" if cell.get("cell_type") == "heading" else source
        return
    if source.strip():
        yield fenced(source, re.sub(r"\W", "", language)[:20])
    output = "\n".join(filter(str.strip, map(_output, cell.get("outputs", ()))))
    if output:
        yield fenced(output[:OUTPUT_CHARACTERS_MAX])


def _output(output: dict[str, Any]) -> str:
    if output.get("output_type") == "error":
        return f"{output.get('ename')}: {output.get('evalue')}"
    data = output.get("data", {})
    return _joined(data.get("text/plain", output.get("text", "")))


def _losses(cells: Sequence[dict[str, Any]]) -> Iterator[str]:
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    kinds = [kind for output in outputs for kind in output.get("data", {})]
    images = sum(kind.startswith("image/") for kind in kinds)
    if images:
        yield f"the images of its outputs ({images:,}) are not read"
    long = sum(len(_output(output)) > OUTPUT_CHARACTERS_MAX for output in outputs)
    if long:
        yield f"its long outputs ({long:,}) are cut after {OUTPUT_CHARACTERS_MAX:,} characters"


def _joined(lines: object) -> str:
    return "".join(map(str, lines)) if isinstance(lines, list) else str(lines)
