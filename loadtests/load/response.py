"""An HTTP response, and what its headers say about the cache and the revision."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SUMMARY_CHARACTERS = 500
TIERS = ("memory", "redis", "semantic")
# The headers that are kept; all others are skipped as they arrive.
KEPT_HEADERS = frozenset(
    {b"cache-status", b"server-timing", b"nearhit-revision", b"nearhit-degraded"}
)
_REVISIONS = re.compile(r"(\d+)(?:;public=(\d+))?")


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """headers: those of `KEPT_HEADERS` that the response has, by lower-case name.

    sent_s, answered_s: by `time.monotonic`; the latter when the last byte had arrived.
    """

    status: int
    headers: Mapping[bytes, str]
    body: bytes
    sent_s: float = 0.0
    answered_s: float = 0.0

    @property
    def seconds(self) -> float:
        """From when the request was sent."""
        return self.answered_s - self.sent_s

    @property
    def summary(self) -> str:
        """The status and the beginning of the body, for messages."""
        return f"{self.status} {self.body.decode(errors='replace')[:_SUMMARY_CHARACTERS]}"

    @property
    def cache_status(self) -> str:
        return self.headers.get(b"cache-status", "")

    @property
    def is_hit(self) -> bool:
        """Whether a cache gave the answer, or all answers of a batch."""
        return "; hit" in self.cache_status

    @property
    def tier(self) -> str:
        """The tier of the cache that gave the answer; `miss` if none did, and for a batch."""
        if not self.is_hit:
            return "miss"
        name = self.cache_status.rpartition("detail=")[2].strip('"').partition(" ")[0]
        return name if name in TIERS else "miss"

    @property
    def is_degraded(self) -> bool:
        """Whether the embedder took no part in the answer."""
        return b"nearhit-degraded" in self.headers

    @property
    def revision(self) -> int | None:
        """The revision of the caller's tenant that the answer is right for; None if not stated."""
        return self.revisions("own").get("own")

    def revisions(self, tenant: str) -> dict[str, int]:
        """The revisions that the answer is right for, by partition; empty if not stated."""
        revisions = _REVISIONS.match(self.headers.get(b"nearhit-revision", ""))
        if revisions is None:
            return {}
        public = {} if revisions[2] is None else {"public": int(revisions[2])}
        return {tenant: int(revisions[1])} | public
