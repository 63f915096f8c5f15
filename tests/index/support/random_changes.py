"""A made-up story: documents that change in every way, and people who ask in every way."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from random import Random

from gateway.extensions.rag.postprocessor_names import HEURISTIC_RANKER
from index.model.document import Document
from index.model.query import Filter, Postprocessing, Query
from index.model.query_parts.boost import DAY_S, Boost, Importance, Recency
from index.model.scope import SCOPE_NAMES, Scope, resolve
from index.text import long_queries
from tests.index.support import filters, worlds
from tests.index.support.samples import subsets

# Each word is in a text of any language: a language that is new finds what it says at once.
WORDS = (
    *("leave", "travel", "sensor", "lighthouse", "battery", "invoice", "refund", "pressure"),
    *("harbour", "probe", "telescope", "cathedral", "microscope", "orchestra", "volcano"),
    *("museum", "theatre", "hospital"),
)
# Known when the story begins; the others come one by one, and correct who mistyped them.
FIRST_WORDS = 8
LANGUAGES = ("en", "pt-BR", "de", "fr", "fi", "es", "it")
FIRST_LANGUAGES = 2
SECTIONS_MAX = 5
# Lines without a word that count as so many: a section with them is long enough for a summary, of
# which its words alone make up what is said.
PADS = tuple(f"```\n{'=' * 16 * words}\n```" for words in (450, 1_050))
READERS = subsets(["user:ana", "user:ben", "group:sales", "tenant", "public"])


class Story:
    """Draws what happens; the longer it goes on, the more words and languages there are."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311  the same story every time, and no secret
        self._words = FIRST_WORDS
        self._languages = FIRST_LANGUAGES
        self._dates: list[datetime] = []

    def go_on(self, now: datetime) -> None:
        self._dates.append(now)
        if self.random.random() < 0.25:
            self._words = min(self._words + 1, len(WORDS))
        if self.random.random() < 0.12:
            self._languages = min(self._languages + 1, len(LANGUAGES))

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # Documents

    def document(self, document_id: str) -> Document:
        random = self.random
        return Document(
            document_id=document_id,
            title=self._title(),
            text=_text([self._section() for _ in range(random.randint(1, SECTIONS_MAX))]),
            source=random.choice(worlds.SOURCES),
            uri=random.choice(["", "/here"]),
            language=random.choice(LANGUAGES[: self._languages]),
            tags=self._tags(),
            metadata=random.choice(worlds.METADATA),
            owner=random.choice([None, *worlds.SUBJECTS]),
            readers=self._readers(),
            summaries=random.choice(["none", "extract", "extract"]),
            provenance=worlds.provenance_of(document_id),
        )

    def edited(self, document: Document) -> Document:
        """Mostly one thing of it, and never its owner and readers alone."""
        random = self.random
        edits: Sequence[Callable[[Document], Document]] = (
            *([self._with_other_text] * 6),
            lambda one: replace(one, title=self._title()),
            lambda one: replace(one, title=one.title.upper()),
            lambda one: replace(one, uri=random.choice(["", "/here", "/there"])),
            lambda one: replace(one, source=random.choice(worlds.SOURCES)),
            lambda one: replace(one, tags=self._tags()),
            lambda one: replace(one, metadata=random.choice(worlds.METADATA)),
            lambda one: replace(one, language=random.choice(LANGUAGES[: self._languages])),
            lambda one: replace(one, readers=self._readers()),
            lambda one: replace(one, summaries=random.choice(["none", "extract"])),
        )
        for edit in random.sample(edits, k=random.choice([1, 1, 1, 2])):
            document = edit(document)
        return document

    def re_permitted(self, document: Document) -> Document:
        owner = self.random.choice([document.owner, document.owner, None, *worlds.SUBJECTS])
        readers = self._readers()
        provenance = worlds.provenance_of(f"{document.document_id} {owner} {readers}")
        return replace(document, owner=owner, readers=readers, provenance=provenance)

    def _with_other_text(self, document: Document) -> Document:
        random = self.random
        sections = _sections(document.text)
        place = random.randrange(len(sections))
        match random.choice(["edit", "edit", "insert", "insert", "drop", "swap", "space", "lead"]):
            case "edit":
                sections[place] = self._section()
            case "insert" if len(sections) < SECTIONS_MAX:
                sections.insert(place, self._section())
            case "drop" if len(sections) > 1:
                del sections[place]
            case "swap":
                sections.insert(0, sections.pop(place))
            case "space":
                return replace(document, text=document.text + "\n\n")
            case "lead":
                return replace(document, text="\n\n" + document.text)
            case _:
                sections[place] = self._section()
        return replace(document, text=_text(sections))

    def _section(self) -> str:
        words = self.random.choices(self._known(), k=self.random.randint(2, 25))
        pad = f"\n\n{self.random.choice(PADS)}" if self.chance(0.25) else ""
        return f"## {words[0]}\n\n{' '.join(words)}.{pad}"

    def _title(self) -> str:
        return " ".join(self.random.choices(self._known(), k=2))

    def _tags(self) -> tuple[str, ...]:
        return tuple(tag for tag in worlds.TAGS if self.random.random() < 0.4)

    def _readers(self) -> tuple[str, ...]:
        return self.random.choice([("tenant",), ("tenant",), ("public",), *READERS])

    def _known(self) -> Sequence[str]:
        return WORDS[: self._words]

    # Questions

    def scope(self, tenant: str) -> Scope:
        random = self.random
        names = random.choice([SCOPE_NAMES, SCOPE_NAMES, *subsets(SCOPE_NAMES)[1:]])
        groups = random.choice(subsets(worlds.GROUPS))
        receives = random.random() < 0.8
        subject = random.choice(worlds.SUBJECTS)
        return resolve(tenant, subject, groups, names, receives_public=receives)

    def query(self) -> Query:
        random = self.random
        expand = self.chance(0.3)
        return Query(
            text=self._text(),
            alpha=random.choice([None, 0.0, 0.0, 0.25, 0.5, 1.0, 1.0]),
            top_k=random.choice([1, 3, 5, 20]),
            fusion=random.choice(["absolute", "absolute", "absolute", "relative", "rrf"]),
            filter=self._filter() if self.chance(0.4) else Filter(),
            min_score=random.choice([None, None, None, 0.1, 0.3, 0.8]),
            explain=self.chance(0.2),
            # Few with `expand`: what a text takes in is then seldom a candidate itself.
            candidates=random.choice([1, 2, 3] if expand else [1, 3, 8, 20, 50]),
            language=random.choice([None, None, None, *LANGUAGES[:2]]),
            document_hits_max=random.choice([None, None, 1, 2]),
            expand=expand,
            summaries=self.chance(0.3),
            metadata=self.chance(0.3),
            postprocessing=self._finish() if self.chance(0.3) else None,
            highlights=self.chance(0.2),
            updated_at=self.chance(0.2),
            boost=self._boost() if self.chance(0.3) else None,
            diversity=random.choice([0.0, 0.0, 0.0, 0.3, 1.0]),
            facets=self._facets() if self.chance(0.15) else (),
            facet_values_max=random.choice([1, 10]),
            relations=self.chance(0.15),
        )

    def _text(self) -> str:
        """Seldom a long one, of many sentences of one word."""
        if self.chance(0.1):
            return " ".join(f"{self._asked()}." for _ in range(long_queries.WORDS_MIN))
        return " ".join(self._asked() for _ in range(self.random.choice([1, 1, 2, 4])))

    def _boost(self) -> Boost:
        """The story takes seconds, so a half-life is one."""
        weight = self.random.choice([0.05, 0.5])
        recency, importance = Recency(1 / DAY_S, weight), Importance("year", 4_000, weight)
        return self.random.choice(
            [
                Boost(recency),
                Boost(recency, importance),
                Boost(importance=importance),
                *[Boost(popularity=weight)] * 2,
                Boost(recency, popularity=weight),
                *[Boost(replaced=0.5)] * 3,
            ]
        )

    def _facets(self) -> tuple[str, ...]:
        fields = ["source", "language", "tags", "metadata.team", "metadata.labels"]
        return tuple(sorted(self.random.sample(fields, k=self.random.randint(1, 3))))

    def _finish(self) -> Postprocessing:
        """By heuristic: what services say is theirs."""
        random = self.random
        budget = random.choice([None, 5, 40, 400])
        return Postprocessing(
            top_k=random.choice([1, 2, 5]),
            ranker=random.choice([None, HEURISTIC_RANKER, HEURISTIC_RANKER]),
            token_budget=budget,
            compressor=None if budget is None else random.choice([None, "extract"]),
        )

    def _asked(self) -> str:
        """Any word, also one that no document holds yet; often mistyped."""
        word = self.random.choice(WORDS)
        if not self.chance(0.3):
            return word
        place = self.random.randrange(1, len(word) - 2)
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]

    def _filter(self) -> Filter:
        values = {name: sample.values for name, sample in filters.SAMPLES.items()}
        values |= {"updated_after": self._dates, "updated_before": self._dates}
        names = {self.random.choice([*values]), self.random.choice([*values, "kinds", "kinds"])}
        return Filter(**{name: self.random.choice(values[name]) for name in sorted(names)})


def _text(sections: Sequence[str]) -> str:
    return "\n\n".join(sections)


def _sections(text: str) -> list[str]:
    return ["## " + part.strip() for part in text.split("## ") if part.strip()]
