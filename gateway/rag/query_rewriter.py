"""A question that leans on what was said before, made into one that stands by itself."""

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import orjson
import structlog

from gateway.rag import prompt_quoting
from gateway.rag.metered_chat import BudgetedChat
from index.errors import BudgetSpent
from index.model.scope import Scope
from ingest.errors import ChatTooLate, ChatUnavailable

_ANSWER_TOKENS = 300  # a starting value, not measured

# Why a question stays as it is. long: longer than one may be; lines: more than one, or what is
# no text.
Reason: TypeAlias = Literal[
    "no-history", "no-model", "empty", "lines", "long", "error", "deadline", "budget"
]

log = structlog.get_logger()


class Observe(Protocol):
    def __call__(self, assist: str, by: str, /) -> None: ...


class RewriteCache(Protocol):
    """Bytes of a tenant under a key; what is lost is made again."""

    async def get(self, tenant: str, key: str, /) -> bytes | None: ...
    async def put(self, tenant: str, key: str, value: bytes, /) -> None: ...


@dataclass(frozen=True, slots=True)
class RewrittenQuery:
    """The question; reason: why it is the original one, None if a model has written it."""

    query: str
    reason: Reason | None = None

    @property
    def header(self) -> str:
        return "model" if self.reason is None else f"kept; {self.reason}"


class QueryRewriter:
    """chat: None without a model. edition: of model and prompt, which decide what is said."""

    def __init__(
        self,
        chat: BudgetedChat | None,
        remembered: RewriteCache,
        observe: Observe,
        *,
        instruction: str,
        edition: str,
        characters_max: int,
    ) -> None:
        self._chat = chat
        self._remembered = remembered
        self._observe = observe
        self._instruction = instruction
        self._edition = edition
        self._characters_max = characters_max

    async def rewrite(
        self,
        seen: Scope,
        history: Sequence[Mapping[str, str]],
        query: str,
        *,
        alone: bool = False,
    ) -> RewrittenQuery:
        """At the tenant's expense, unless a model has said it before to somebody who sees the same.

        alone: also a question that nothing was said before.
        """
        if not history and not alone:
            made = RewrittenQuery(query, "no-history")
        else:
            made = await self._made(seen, history, query)
        self._observe("rewrite", made.header.replace("; ", " "))
        if made.reason is not None:
            log.info("rewrite", tenant=seen.tenant, state="kept", detail=made.reason)
        return made

    async def _made(
        self, seen: Scope, history: Sequence[Mapping[str, str]], query: str
    ) -> RewrittenQuery:
        if self._chat is None:
            return RewrittenQuery(query, "no-model")
        tenant, key = seen.tenant, self._key(seen, history, query)
        known = await self._remembered.get(tenant, key)
        if known is not None:
            return RewrittenQuery(known.decode())
        mark = prompt_quoting.make_mark()
        told = "\n\n".join(
            (
                prompt_quoting.conversation(history, mark),
                prompt_quoting.quote("QUESTION", query, mark),
            )
        )
        instruction = self._instruction.replace(prompt_quoting.MARK, mark)
        try:
            said = await self._chat.answer(tenant, instruction, told, tokens_max=_ANSWER_TOKENS)
        except BudgetSpent:
            return RewrittenQuery(query, "budget")
        except ChatTooLate:
            return RewrittenQuery(query, "deadline")
        except ChatUnavailable:
            return RewrittenQuery(query, "error")
        said = said.strip()
        reason = self._refused(said)
        if reason is not None:
            return RewrittenQuery(query, reason)
        await self._remembered.put(tenant, key, said.encode())
        return RewrittenQuery(said)

    def _refused(self, said: str) -> Reason | None:
        """Joiners and spaces of other scripts are part of a question; controls are of none."""
        if not said:
            return "empty"
        if len(said.splitlines()) > 1 or any(unicodedata.category(one) == "Cc" for one in said):
            return "lines"
        return "long" if len(said) > self._characters_max else None

    def _key(self, seen: Scope, history: Sequence[Mapping[str, str]], query: str) -> str:
        told = orjson.dumps([self._edition, list(history), query], option=orjson.OPT_SORT_KEYS)
        return hashlib.blake2b(seen.fingerprint + told, digest_size=16).hexdigest()
