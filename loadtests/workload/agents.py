"""The questions of agents: bursts of related questions, paraphrases, follow-ups and repeats.

Pure and seeded: equal documents and seeds make equal requests.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import orjson

from loadtests.workload.questions import BEGINNINGS, neighbours, zipf

Who = tuple[str, str]  # tenant and subject

_BURST = (2, 6)  # questions about one document
_REMEMBERED_MAX = 500  # questions of an agent that may be repeated
# Starting values, not measured. None names no scope: everything that the key may read.
_SCOPES: Mapping[str | None, float] = {
    None: 0.4,
    "tenant": 0.25,
    "shared": 0.15,
    "private": 0.1,
    "public": 0.1,
}


@dataclass(frozen=True, slots=True)
class AgentQuestion:
    """scope: the scope that the body names, or `all`."""

    scope: str
    body: bytes


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """is_stranger: it is sent with a key that does not exist."""

    who: Who
    question: AgentQuestion
    is_stranger: bool

    @property
    def expected_status(self) -> int:
        return 401 if self.is_stranger else 200


class Agents:
    """texts: by tenant, the words of each document. lines: questions to ask instead of generated
    ones, if there are any. repeats, strangers: shares of the requests. public: whether some name
    the scope `public`.
    """

    def __init__(
        self,
        whos: Sequence[Who],
        texts: Mapping[str, Sequence[Sequence[str]]],
        lines: Sequence[str],
        *,
        repeats: float,
        strangers: float,
        random: Random,
        public: bool = True,
    ) -> None:
        self._whos = whos
        self._texts = texts
        self._lines = lines
        self._repeats = repeats
        self._strangers = strangers
        self._random = random
        self._scopes = {
            name: share for name, share in _SCOPES.items() if public or name != "public"
        }
        self._remembered: dict[Who, list[AgentQuestion]] = {who: [] for who in whos}
        self._news = {who: self._new(who[0]) for who in whos}

    def ask(self) -> AgentRequest:
        who = self._whos[zipf(len(self._whos), self._random)]
        is_stranger = self._random.random() < self._strangers
        return AgentRequest(who, self._question(who), is_stranger)

    def _question(self, who: Who) -> AgentQuestion:
        remembered = self._remembered[who]
        if remembered and self._random.random() < self._repeats:
            return remembered[zipf(len(remembered), self._random)]
        question = next(self._news[who])
        if len(remembered) < _REMEMBERED_MAX:
            remembered.append(question)
        else:  # the most repeated questions stay
            remembered[self._random.randrange(_REMEMBERED_MAX // 2, _REMEMBERED_MAX)] = question
        return question

    def _new(self, tenant: str) -> Iterator[AgentQuestion]:
        while True:
            scope = self._random.choices(list(self._scopes), list(self._scopes.values()))[0]
            if self._lines:
                yield _question(self._random.choice(self._lines), scope)
            else:
                yield from self._burst(self._random.choice(self._texts[tenant]), scope)

    def _burst(self, text: Sequence[str], scope: str | None) -> Iterator[AgentQuestion]:
        first = neighbours(text, self._random)
        yield _question(" ".join(first), scope)
        for _ in range(self._random.randint(*_BURST) - 1):
            match self._random.randrange(3):
                case 0:  # a paraphrase, which the semantic tier may answer
                    other = self._random.sample(first, len(first))
                    beginning = self._random.choice(BEGINNINGS)
                    yield _question(f"{beginning} {' '.join(other)}", scope, semantic="bounded")
                case 1:  # a follow-up
                    yield _question(" ".join([*first, *neighbours(text, self._random)[:2]]), scope)
                case _:  # something else about the same
                    yield _question(" ".join(neighbours(text, self._random)), scope)


def _question(query: str, scope: str | None, **more: object) -> AgentQuestion:
    scopes = {} if scope is None else {"scopes": [scope]}
    return AgentQuestion(scope or "all", orjson.dumps({"query": query, **scopes, **more}))
