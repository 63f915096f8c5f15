from cache.answers import Answers
from cache.memory import Memory
from cache.store import Store


class Worker:
    """One process's cache over a shared store, and what it counted."""

    def __init__(self, store: Store) -> None:
        self.events: list[str] = []
        self.answers = Answers(Memory(1_000_000), store, self.events.append)
