"""Turns: of writes that follow one another, one is planned while the one before is committed."""

import asyncio
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Turns:
    """What is planned later knows what was embedded before, and is committed later.

    Whoever holds one turn waits for no other, so nobody can deadlock.
    """

    planning: asyncio.Lock = field(default_factory=asyncio.Lock)
    committing: asyncio.Lock = field(default_factory=asyncio.Lock)
