"""Keys and the tokens narrowed from them: when each must work, and when it must not. Pure.

A token ends with each of its ancestors. Moments are seconds of one clock.
"""

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeAlias

from loadtests.workload.viewer import Viewer

Standing: TypeAlias = Literal["works", "may work", "ended"]
Holder: TypeAlias = tuple[str, str]  # tenant and subject

_TOLERANCE_S = 0.05  # between the driver's clock and the servers'; they share a machine
_ENDED_KEPT = 60
_TOKENS_MAX = 4  # of a holder


@dataclass(slots=True, eq=False)
class IssuedCredential:
    """may_end_s: until then it certainly works. ended_s: from then on it certainly does not.

    why: the reason of its end.
    """

    key_id: str
    secret: str
    viewer: Viewer
    parent: "IssuedCredential | None" = None
    may_end_s: float = math.inf
    ended_s: float = math.inf
    why: str = ""

    def end(self, asked_s: float, acknowledged_s: float, why: str) -> None:
        self.doubt(asked_s)
        if acknowledged_s + _TOLERANCE_S < self.ended_s:
            self.ended_s, self.why = acknowledged_s + _TOLERANCE_S, why

    def doubt(self, asked_s: float) -> None:
        """A request to end it was sent; its outcome is not known yet."""
        self.may_end_s = min(self.may_end_s, asked_s - _TOLERANCE_S)

    def standing(self, asked_s: float, answered_s: float) -> Standing:
        """Whether a request with it must be accepted, may be, or must not be."""
        line = list(self._line())
        if any(ancestor.ended_s < asked_s for ancestor in line):
            return "ended"
        return "works" if all(answered_s < ancestor.may_end_s for ancestor in line) else "may work"

    def reasons(self, asked_s: float) -> list[str]:
        """Why it had ended by then: its own reason and those of its ancestors."""
        return [
            f"{'key' if ancestor.parent is None else 'token'} {ancestor.why}"
            for ancestor in self._line()
            if ancestor.ended_s < asked_s
        ]

    def _line(self) -> Iterator["IssuedCredential"]:
        ancestor: IssuedCredential | None = self
        while ancestor is not None:
            yield ancestor
            ancestor = ancestor.parent


@dataclass(slots=True)
class CredentialModel:
    """keys: the key of each holder. tokens: made from it. ended: tried again later."""

    keys: dict[Holder, IssuedCredential]
    tokens: dict[Holder, list[IssuedCredential]] = field(default_factory=dict)
    ended: "deque[IssuedCredential]" = field(default_factory=lambda: deque(maxlen=_ENDED_KEPT))

    def current(self, credential: IssuedCredential) -> IssuedCredential | None:
        """The credential in its current state, if its holder still uses it."""
        holder = credential.viewer.tenant, credential.viewer.subject
        used = [self.keys[holder], *self.tokens.get(holder, ())]
        return next((one for one in used if one.key_id == credential.key_id), None)

    def draw(self, holder: Holder, random: Random, *, narrowed: float) -> IssuedCredential:
        """The holder's key, or with that chance one of its tokens."""
        tokens = self.tokens.get(holder)
        if tokens and random.random() < narrowed:
            return random.choice(tokens)
        return self.keys[holder]

    def add_token(self, holder: Holder, token: IssuedCredential) -> None:
        tokens = self.tokens.setdefault(holder, [])
        tokens.append(token)
        del tokens[:-_TOKENS_MAX]

    def replace_key(self, holder: Holder, new: IssuedCredential) -> None:
        """The tokens of the old key end with it."""
        self.ended.append(self.keys[holder])
        self.ended.extend(self.tokens.pop(holder, ()))
        self.keys[holder] = new

    def drop_token(self, holder: Holder, token: IssuedCredential) -> None:
        self.tokens[holder].remove(token)
        self.ended.append(token)

    def sweep(self, now_s: float) -> None:
        """Use tokens that may have expired only to check that they have."""
        for holder, tokens in self.tokens.items():
            for token in list(tokens):
                if token.standing(now_s, now_s) != "works":
                    self.drop_token(holder, token)

    def void(self, lost: "CredentialModel", at_s: float) -> None:
        """Credentials issued in a lost history must be rejected from now on."""
        known_ids = {credential.key_id for credential in self.all()}
        for credential in lost.all():
            if credential.key_id not in known_ids:
                credential.end(at_s, at_s, "issued in a history that is lost")
                self.ended.append(credential)

    def all(self) -> Iterator[IssuedCredential]:
        yield from self.keys.values()
        for tokens in self.tokens.values():
            yield from tokens
        yield from self.ended
