"""What the calls of the check of a context need."""

from dataclasses import dataclass

from gateway.extension import ReadLog
from gateway.extensions.context_check.held_passages import HeldPassages


@dataclass(frozen=True, slots=True)
class ContextServices:
    held_passages: HeldPassages
    read_log: ReadLog
