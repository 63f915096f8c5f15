"""Whom the gateway shows which documents: told to what confirms responses, and to what logs reads.

An extension logs reads and refused requests, if one does.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol, TypeAlias

from common.audit_actor import AuditActor
from gateway.recording import shown
from gateway.recording.answer_log import AnswerLog
from gateway.settings.settings import Settings
from gateway.stores import Stores
from index.tenants.principals import Principal


class Reader(NamedTuple):
    """A principal or the operator as a reader of a tenant's documents; see `AuditActor`."""

    tenant: str
    subject: str | None
    key_id: str | None


# The documents that were shown by address, and of each the chunks; None for all of it.
ShownChunks: TypeAlias = dict[str, set[int] | None]


class ReadRecorder(Protocol):
    def answer(self, principal: Principal, key: str, body: bytes, /, *, shows_more: bool) -> None:
        """Record that the principal gets this body, the answer of this cache key."""

    def passages(self, reader: Reader, passages: ShownChunks, /) -> None:
        """Record that the reader gets these other than by a search answer."""


class DenialRecorder(Protocol):
    def add(self, principal: Principal, reason: str, route: str, /) -> None:
        """Record that a request of the principal was refused."""

    def add_stranger(self, actor: AuditActor, reason: str, route: str, /) -> None:
        """Record that a request was refused that belongs to no tenant."""

    def add_credential(self, digest: bytes, route: str, /) -> None:
        """Record that a request with this credential was refused."""


@dataclass(frozen=True, slots=True)
class AccessRecorders:
    """None: such a thing is not recorded."""

    reads: ReadRecorder | None = None
    denials: DenialRecorder | None = None


# Gets the log of answers too, to which it adds its watcher.
OpenAccessLog: TypeAlias = Callable[
    [Settings, Stores, AnswerLog], AbstractAsyncContextManager[AccessRecorders]
]


class ReadLog:
    def __init__(self, recorder: ReadRecorder | None) -> None:
        self._recorder = recorder

    def answer(
        self, principal: Principal, key: str, body: bytes, *, shows_more: bool = False
    ) -> None:
        """The principal gets this body, the answer of this cache key.

        shows_more: than the chunks of its hits, such as those around them.
        """
        if self._recorder is not None:
            self._recorder.answer(principal, key, body, shows_more=shows_more)

    def documents(
        self, principal: Principal | Reader, documents: Iterable[str], *, by_role: bool = False
    ) -> None:
        """The principal gets these documents other than by a search answer.

        by_role: and not because its grants admit them.
        """
        self.passages(principal, dict.fromkeys(documents), by_role=by_role)

    def passages(
        self, principal: Principal | Reader, passages: ShownChunks, *, by_role: bool = False
    ) -> None:
        """As `documents`, of which these chunks alone are shown."""
        shows = shown.CURRENT.get()
        if shows is not None and isinstance(principal, Principal) and not by_role:
            shows.documents.append((principal, passages.keys()))
        if self._recorder is not None:
            reader = Reader(principal.tenant, principal.subject, principal.key_id)
            shown.record_when_confirmed(partial(self._recorder.passages, reader, passages))
