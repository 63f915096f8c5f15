"""The source of frequent questions: YAML or JSON, one document a question, each one chunk."""

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from index.model.document import TITLE_CHARACTERS_MAX, Document, normalise
from ingest.parse import safe_yaml
from ingest.sources import confined
from ingest.sources.source import Defaults, Item, RefusedItem, document, reason

JSON_BYTES_MAX = 32 * 2**20  # starting values, not measured
YAML_BYTES_MAX = 2 * 2**20  # half a minute: PyYAML reads 70 kB/s where it looks twice
_BETWEEN = re.compile(r"[,;]")


def _words(value: object) -> object:
    if isinstance(value, str):
        return tuple(word.strip() for word in _BETWEEN.split(value) if word.strip())
    return tuple(value) if isinstance(value, list) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]


class Faq(BaseModel):
    """What the file says of a question; owner, readers, language and tags as in front matter."""

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
    """A file that is a list of questions, or a mapping with one under `faqs` or `questions`.

    A question is known by its `id`, or else by its own text: then an edit of it makes another one.

    within: a resolved folder that the file lies in; anywhere unless given.
    """

    def __init__(
        self,
        path: Path,
        defaults: Defaults,
        *,
        name: str | None = None,
        within: Path | None = None,
    ) -> None:
        self.name = name or path.stem
        self._path = path
        self._defaults = defaults
        self._within = within

    def documents(self) -> Iterator[Item]:
        """The questions in their order. Blocks on the disk, and raises nothing."""
        try:
            entries = self._entries()
        except (OSError, ValueError) as error:
            yield RefusedItem(self._path.name, reason(error), holds="")
            return
        seen: set[str] = set()
        for number, entry in enumerate(entries, start=1):
            place = f"{self._path.name}, question {number:,}"
            try:
                made = self._document(entry)
            except ValueError as error:
                # Which of the stored questions it was can't be told, so all of them stay.
                yield RefusedItem(place, reason(error), holds="")
                continue
            if made.document_id in seen:
                holds = made.document_id.removeprefix(f"{self.name}/")
                yield RefusedItem(place, "is asked before, with the same id or text", holds=holds)
                continue
            seen.add(made.document_id)
            yield made

    def _entries(self) -> list[Any]:
        is_json = self._path.suffix.lower() == ".json"
        limit = JSON_BYTES_MAX if is_json else YAML_BYTES_MAX
        content = confined.read_file(self._path, limit, self._within)
        found = orjson.loads(content) if is_json else _yaml(content)
        if isinstance(found, dict):
            found = found.get("faqs", found.get("questions"))
        if not isinstance(found, list):
            raise ValueError("must be a list of questions, or have one under `faqs`")  # noqa: TRY004
        return found

    def _document(self, entry: object) -> Document:
        faq = Faq.model_validate(entry)
        question = " ".join(faq.question.split())
        key = str(faq.id) if faq.id is not None else _key(question)
        asked = {"category": faq.category, "priority": faq.priority}
        named = {"owner": faq.owner, "readers": faq.readers, "language": faq.language}
        tags = [*self._defaults.tags, *faq.tags, *filter(None, [faq.category]), *faq.keywords]
        return document(
            self._defaults.fields("whole")
            | {name: value for name, value in named.items() if value is not None}
            | {
                "document_id": f"{self.name}/{key}",
                "source": self.name,
                "title": question[:TITLE_CHARACTERS_MAX],
                "text": text_of(question, faq.answer, faq.keywords),
                "uri": faq.uri,
                "tags": tuple(dict.fromkeys(tags)),
                "metadata": {name: value for name, value in asked.items() if value is not None},
            }
        )


def _yaml(content: bytes) -> Any:
    try:
        return safe_yaml.load(content.decode("utf-8-sig"))
    except safe_yaml.NotYaml as error:
        where = f"line {error.line}: " if error.line else "not YAML: "
        raise ValueError(f"{where}{error}") from None


def text_of(question: str, answer: str, keywords: Sequence[str] = ()) -> str:
    """The keywords stand in it too, so that they are found."""
    said = ", ".join(keywords)
    parts = chain([f"# {question}", answer.strip()], [said] if said else [])
    return normalise("\n\n".join(parts))


def _key(question: str) -> str:
    return blake2b(question.casefold().encode(), digest_size=8).hexdigest()
