"""The source of frequent questions: YAML or JSON; each question is a document of one chunk."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from gateway.extensions._files import encoding, safe_yaml
from gateway.extensions._records import faq_text
from gateway.extensions._sources import confined
from gateway.extensions._sources.bounded.reader_request import ReaderRequest
from gateway.extensions._sources.source import Item, RefusedItem, document, each_once, reason
from index.model.document import Document
from index.model.document_limits import TITLE_CHARACTERS_MAX

JSON_BYTES_MAX = 32 * 2**20  # starting values, not measured
YAML_BYTES_MAX = 2 * 2**20  # half a minute: PyYAML scans and parses 70 kB/s
_SEPARATOR = re.compile(r"[,;]")


def _words(value: object) -> object:
    if isinstance(value, str):
        return tuple(word.strip() for word in _SEPARATOR.split(value) if word.strip())
    return tuple(value) if isinstance(value, list) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]


class Faq(BaseModel):
    """A question of the file; owner, readers, language and tags as in front matter."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    category: str | None = None
    keywords: Words = ()
    priority: int | float | str | None = None
    id: str | int | None = None
    language: str | None = None
    tags: Words = ()
    owner: str | None = None
    readers: Words | None = None
    uri: str = ""


def documents(request: ReaderRequest) -> Iterator[Item]:
    """The questions of a file's list, at the top or under `faqs` or `questions`, in their order.

    A question without an `id` is identified by its text, so an edited question is a new document.
    Does blocking I/O; raises nothing.
    """
    file = request.path.name
    try:
        entries = _entries(request)
    except (OSError, ValueError) as error:
        yield RefusedItem(file, reason(error), holds="")
        return
    placed = ((f"{file}, question {at:,}", entry) for at, entry in enumerate(entries, start=1))
    repeated = "an earlier question has the same id or text"
    yield from each_once(request.name, placed, partial(_document, request), repeated)


def _entries(request: ReaderRequest) -> list[Any]:
    is_json = request.path.suffix.lower() == ".json"
    limit = JSON_BYTES_MAX if is_json else YAML_BYTES_MAX
    content = confined.read_file(request.path, limit, request.within)
    parsed = orjson.loads(content) if is_json else _parse_yaml(content)
    if isinstance(parsed, dict):
        parsed = parsed.get("faqs", parsed.get("questions"))
    if not isinstance(parsed, list):
        raise ValueError("must be a list of questions, or have one under `faqs`")  # noqa: TRY004
    return parsed


def _document(request: ReaderRequest, entry: object) -> Document:
    faq = Faq.model_validate(entry)
    question = " ".join(faq.question.split())
    key = str(faq.id) if faq.id is not None else faq_text.id_of(question)
    metadata = {"category": faq.category, "priority": faq.priority}
    defined = {"owner": faq.owner, "readers": faq.readers, "language": faq.language}
    tags = [*request.defaults.tags, *faq.tags, *filter(None, [faq.category]), *faq.keywords]
    return document(
        request.defaults.fields("whole")
        | {name: value for name, value in defined.items() if value is not None}
        | {
            "document_id": f"{request.name}/{key}",
            "source": request.name,
            "title": question[:TITLE_CHARACTERS_MAX],
            "text": faq_text.text_of(question, faq.answer, faq.keywords),
            "uri": faq.uri,
            "tags": tuple(dict.fromkeys(tags)),
            "metadata": {name: value for name, value in metadata.items() if value is not None},
        }
    )


def _parse_yaml(content: bytes) -> Any:
    try:
        return safe_yaml.load(encoding.decode(content))
    except safe_yaml.NotYaml as error:
        where = f"line {error.line}: " if error.line else "not YAML: "
        raise ValueError(f"{where}{error}") from None
