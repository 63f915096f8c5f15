"""Rewrites the last question of a conversation into one that is understood without the history."""

import hashlib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import orjson
import structlog

from cache.embedding_cache import EmbeddingCache
from gateway.extensions._chat import prompt_quoting
from gateway.extensions._chat.budgeted_chat import BudgetedChat
from gateway.extensions._chat.errors import ChatTooLate, ChatUnavailable
from index.errors import BudgetSpent
from index.model.scope import Scope

_ANSWER_TOKENS = 300  # a starting value, not measured

# Why a question stays unchanged. empty, lines, long: the model's output is empty, has several lines
# or control characters, or is longer than a query may be.
Reason: TypeAlias = Literal[
    "no-history", "no-model", "empty", "lines", "long", "error", "deadline", "budget"
]

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class RewrittenQuery:
    """reason: why the query is the original one; None if a model has written it."""

    query: str
    reason: Reason | None = None

    @property
    def header(self) -> str:
        return "model" if self.reason is None else f"kept; {self.reason}"


class QueryRewriter:
    """chat: None without a model."""

    def __init__(
        self,
        chat: BudgetedChat | None,
        rewrites: EmbeddingCache,
        observe: Callable[[str, str], None],
        *,
        instruction: str,
        characters_max: int,
    ) -> None:
        self._chat = chat
        self._rewrites = rewrites
        self._observe = observe
        self._instruction = instruction
        self._edition = "" if chat is None else chat.edition(instruction)
        self._characters_max = characters_max

    async def rewrite(
        self,
        scope: Scope,
        history: Sequence[Mapping[str, str]],
        query: str,
        *,
        without_history: bool = False,
    ) -> RewrittenQuery:
        """The rewritten query, billed to the tenant, or a cached one of the same scope.

        without_history: rewrite the query even if the history is empty.
        """
        if not history and not without_history:
            rewritten = RewrittenQuery(query, "no-history")
        else:
            rewritten = await self._rewrite(scope, history, query)
        self._observe("rewrite", rewritten.header.replace("; ", " "))
        if rewritten.reason is not None:
            log.info("rewrite", tenant=scope.tenant, state="kept", detail=rewritten.reason)
        return rewritten

    async def _rewrite(
        self, scope: Scope, history: Sequence[Mapping[str, str]], query: str
    ) -> RewrittenQuery:
        if self._chat is None:
            return RewrittenQuery(query, "no-model")
        tenant, key = scope.tenant, self._key(scope, history, query)
        cached = await self._rewrites.get(tenant, key)
        if cached is not None:
            return RewrittenQuery(cached.decode())
        mark = prompt_quoting.make_mark()
        text = "\n\n".join(
            (
                prompt_quoting.quote_conversation(history, mark),
                prompt_quoting.quote("QUESTION", query, mark),
            )
        )
        instruction = self._instruction.replace(prompt_quoting.MARK, mark)
        try:
            output = await self._chat.answer(tenant, instruction, text, tokens_max=_ANSWER_TOKENS)
        except BudgetSpent:
            return RewrittenQuery(query, "budget")
        except ChatTooLate:
            return RewrittenQuery(query, "deadline")
        except ChatUnavailable:
            return RewrittenQuery(query, "error")
        output = output.strip()
        reason = self._rejection_reason(output)
        if reason is not None:
            return RewrittenQuery(query, reason)
        await self._rewrites.put(tenant, key, output.encode())
        return RewrittenQuery(output)

    def _rejection_reason(self, output: str) -> Reason | None:
        """Why the output is not a query. Joiners and spaces of other scripts are allowed."""
        if not output:
            return "empty"
        has_control = any(unicodedata.category(character) == "Cc" for character in output)
        if len(output.splitlines()) > 1 or has_control:
            return "lines"
        return "long" if len(output) > self._characters_max else None

    def _key(self, scope: Scope, history: Sequence[Mapping[str, str]], query: str) -> str:
        text = orjson.dumps([self._edition, list(history), query], option=orjson.OPT_SORT_KEYS)
        return hashlib.blake2b(scope.fingerprint + text, digest_size=16).hexdigest()
