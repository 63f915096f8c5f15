"""The answers that one response holds while it is made."""

from gateway.extension import ANSWER_BYTES_MAX, Slot, problems


class HeldAnswers:
    """The answers of one response while it is made; they count as its tenant's, as bodies do."""

    def __init__(self, slot: Slot) -> None:
        self._slot = slot
        self._size_bytes = 0

    def hold(self, body: bytes) -> None:
        """A 422 `Problem` if the response has too many bytes; a 429 or 503 as `Slot.hold`."""
        if self._size_bytes + len(body) > ANSWER_BYTES_MAX:
            raise problems.answer_too_large(ANSWER_BYTES_MAX)
        self._slot.hold(len(body))
        self._size_bytes += len(body)

    def release(self, body: bytes) -> None:
        """Count an answer no more that is replaced by another."""
        self._slot.release(len(body))
        self._size_bytes -= len(body)
