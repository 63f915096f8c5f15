"""The source of frequent questions: YAML or JSON; each question is a document of one chunk."""

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from index.model.document import Document, normalise
from index.model.document_limits import TITLE_CHARACTERS_MAX
from index.model.form import composed
from ingest.parse import encoding, safe_yaml
from ingest.sources.readers import confined
from ingest.sources.source import Defaults, Item, RefusedItem, document, reason

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


class FaqSource:
    """A file with a list of questions, at the top or under `faqs` or `questions`.

    A question without an `id` is identified by its text, so an edited question is a new document.

    within: the resolved folder that must contain the file; None allows any location.
    """

    def __init__(
        self,
        path: Path,
        defaults: Defaults,
        *,
        name: str | None = None,
        within: Path | None = None,
    ) -> None:
        self.name = composed(name or path.stem)
        self._path = path
        self._defaults = defaults
        self._within = within

    def documents(self) -> Iterator[Item]:
        """The questions in their order. Does blocking I/O; raises nothing."""
        try:
            entries = self._entries()
        except (OSError, ValueError) as error:
            yield RefusedItem(self._path.name, reason(error), holds="")
            return
        document_ids: set[str] = set()
        for number, entry in enumerate(entries, start=1):
            path = f"{self._path.name}, question {number:,}"
            try:
                faq = self._document(entry)
            except ValueError as error:
                # Its stored document is unknown, so pruning keeps all of them.
                yield RefusedItem(path, reason(error), holds="")
                continue
            if faq.document_id in document_ids:
                holds = faq.document_id.removeprefix(f"{self.name}/")
                yield RefusedItem(path, "an earlier question has the same id or text", holds=holds)
                continue
            document_ids.add(faq.document_id)
            yield faq

    def _entries(self) -> list[Any]:
        is_json = self._path.suffix.lower() == ".json"
        limit = JSON_BYTES_MAX if is_json else YAML_BYTES_MAX
        content = confined.read_file(self._path, limit, self._within)
        parsed = orjson.loads(content) if is_json else _parse_yaml(content)
        if isinstance(parsed, dict):
            parsed = parsed.get("faqs", parsed.get("questions"))
        if not isinstance(parsed, list):
            raise ValueError("must be a list of questions, or have one under `faqs`")  # noqa: TRY004
        return parsed

    def _document(self, entry: object) -> Document:
        faq = Faq.model_validate(entry)
        question = " ".join(faq.question.split())
        key = str(faq.id) if faq.id is not None else _key(question)
        metadata = {"category": faq.category, "priority": faq.priority}
        defined = {"owner": faq.owner, "readers": faq.readers, "language": faq.language}
        tags = [*self._defaults.tags, *faq.tags, *filter(None, [faq.category]), *faq.keywords]
        return document(
            self._defaults.fields("whole")
            | {name: value for name, value in defined.items() if value is not None}
            | {
                "document_id": f"{self.name}/{key}",
                "source": self.name,
                "title": question[:TITLE_CHARACTERS_MAX],
                "text": text_of(question, faq.answer, faq.keywords),
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


def text_of(question: str, answer: str, keywords: Sequence[str] = ()) -> str:
    """The document's text; it contains the keywords, so that searches find them."""
    keyword_line = ", ".join(keywords)
    parts = chain([f"# {question}", answer.strip()], [keyword_line] if keyword_line else [])
    return normalise("\n\n".join(parts))


def _key(question: str) -> str:
    return blake2b(question.casefold().encode(), digest_size=8).hexdigest()
