"""The turn of a job that may take long and can go on where it stopped: then others have theirs."""

import asyncio

from ingest.errors import JobUnfinished

TURN_S_MAX = 10.0  # a starting value


class JobTurn:
    """Begins now. seconds: that it lasts."""

    def __init__(self, seconds: float = TURN_S_MAX) -> None:
        self._now_s = asyncio.get_running_loop().time
        self._until_s = self._now_s() + seconds

    @property
    def left_s(self) -> float:
        return max(0.0, self._until_s - self._now_s())

    @property
    def is_over(self) -> bool:
        return not self.left_s

    def require(self) -> None:
        """Raises `JobUnfinished` if it is over. What the job has done must be stored."""
        if self.is_over:
            raise JobUnfinished
