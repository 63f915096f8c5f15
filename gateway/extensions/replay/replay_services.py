"""What the calls of the extension use."""

from dataclasses import dataclass

from gateway.extension import SearchServices
from gateway.extensions.replay.past_store import PastStore


@dataclass(frozen=True, slots=True)
class ReplayServices:
    store: PastStore
    search: SearchServices
