"""A real handbook and its edit history, as writes to a tenant."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadtests.workload import json_lines
from loadtests.workload.tenant_client import TenantClient

_READERS = ["tenant"]
_TITLE = re.compile(r"^title: *[\"']?(.+?)[\"']?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Edit:
    """gone: the path of a document to remove, or None. path, text: the document to write, or None.

    commit: the number of the commit, from 0.
    """

    gone: str | None
    path: str | None
    text: str = ""
    commit: int = 0


@dataclass(frozen=True, slots=True)
class Handbook:
    """texts: the documents before the first edit, by path."""

    texts: dict[str, str]
    edits: Sequence[Edit]

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [{"document_id": path, **document(text)} for path, text in self.texts.items()]


def read(data: Path) -> Handbook:
    folder = data / "edits_18f_handbook"
    texts = {line["path"]: line["text"] for line in json_lines.read(folder / "snapshot.jsonl.gz")}
    return Handbook(texts, [_edit(line) for line in json_lines.read(folder / "events.jsonl.gz")])


def apply(edit: Edit, tenant: TenantClient) -> None:
    """A move removes and writes."""
    if edit.gone is not None:
        tenant.remove(edit.gone)
    if edit.path is not None:
        tenant.put_one(edit.path, **document(edit.text))


def document(text: str) -> dict[str, Any]:
    title = _TITLE.search(text)
    named = "" if title is None else title[1]
    return {"text": text, "title": named, "language": "en", "readers": _READERS}


def _edit(line: dict[str, Any]) -> Edit:
    if line["op"] == "D":
        return Edit(gone=line["path"], path=None, commit=line["commit"])
    gone = line["from"] if line["op"] == "R" else None
    return Edit(gone, line["path"], line["text"], line["commit"])
