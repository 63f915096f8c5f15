"""A kind of jobs that an extension brings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ingest.worker.job_worker import Handler

OwnServices = TypeVar("OwnServices")


@dataclass(frozen=True, slots=True)
class JobKind(Generic[OwnServices]):
    """handler: makes what runs such a job. is_long: it can take hours.

    Removals do not wait for anybody else, and are no such jobs: no reading may delay a removal.
    """

    handler: Callable[[OwnServices], Handler]
    is_long: bool = False
