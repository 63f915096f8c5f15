"""Jupyter notebooks: the cells, and the text of their outputs."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from gateway.extensions._files.extracted import Extracted, ReadOptions, Unreadable
from gateway.extensions.formats.readers.source_code import fenced

OUTPUT_CHARACTERS_MAX = 4_000  # of a cell; a starting value: a longer one is a log, or data
_IMAGES = ("png", "jpeg", "svg")  # the keys of an output of version 3


def read(content: bytes, _options: ReadOptions) -> Extracted:
    """Raises `Unreadable`."""
    notebook = json.loads(content)
    sheets = notebook.get("worksheets") or [notebook]  # version 3 has sheets
    cells = [cell for sheet in sheets for cell in sheet["cells"]]
    kernel = (notebook.get("metadata") or {}).get("kernelspec") or {}
    language = kernel.get("language") or "python"
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
    output = "\n".join(filter(str.strip, map(_output, cell.get("outputs") or ())))
    if output:
        yield fenced(output[:OUTPUT_CHARACTERS_MAX])


def _output(output: dict[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):  # the latter is of version 3
        return f"{output.get('ename')}: {output.get('evalue')}"
    data = output.get("data") or {}
    return _joined(data.get("text/plain", output.get("text", "")))


def _losses(cells: Sequence[dict[str, Any]]) -> Iterator[str]:
    outputs = [output for cell in cells for output in cell.get("outputs") or ()]
    kinds = [kind for output in outputs for kind in output.get("data") or output]
    images = sum(kind.startswith("image/") or kind in _IMAGES for kind in kinds)
    if images:
        yield f"the images of its outputs ({images:,}) are not read"
    long = sum(len(_output(output)) > OUTPUT_CHARACTERS_MAX for output in outputs)
    if long:
        yield f"its long outputs ({long:,}) are cut after {OUTPUT_CHARACTERS_MAX:,} characters"


def _joined(lines: object) -> str:
    return "".join(map(str, lines)) if isinstance(lines, list) else str(lines or "")
