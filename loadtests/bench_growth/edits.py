"""The cost of an edit: the write, and the first new search after it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median

import orjson
import uvloop

from loadtests.bench_growth import caller, generated_corpus
from loadtests.load import closed_loop
from loadtests.load.request import encode_request
from loadtests.servers.service import Service
from loadtests.workload import topics

_SEED = 31


@dataclass(frozen=True, slots=True)
class EditTimes:
    """before_ms: of a new search at an unchanged revision. write_ms: until the acknowledgement.

    search_ms: of the first new search after it.
    """

    before_ms: float
    write_ms: float
    search_ms: float

    @property
    def total_ms(self) -> float:
        return self.write_ms + self.search_ms


@dataclass(frozen=True, slots=True)
class EditDifference:
    """shards, without: medians by figure.

    more_ms: the median over the turns of how much longer write and search take with shards.
    """

    shards: dict[str, float]
    without: dict[str, float]
    more_ms: float


class Editor:
    """Edits a document of its own through one gateway, and searches there."""

    def __init__(self, gateway: Service, tenant: str, subject: str) -> None:
        self._gateway = gateway
        key = caller.new_key(gateway, tenant, subject)
        self._searches = map(caller.asking(gateway, key), generated_corpus.questions())
        self._edits = self._requests(key, subject)
        self._send(next(self._edits))

    def take(self) -> EditTimes:
        """Search, edit, and search again, all on one connection."""
        # A search that follows what others have written, and one at an unchanged revision.
        searches = next(self._searches), next(self._searches)
        return EditTimes(*self._send(*searches, next(self._edits), next(self._searches))[1:])

    def _send(self, *requests: bytes) -> list[float]:
        """The milliseconds of each."""
        sending = closed_loop.send_all(self._gateway.url, requests, connections=1)
        responses = uvloop.run(sending)
        assert not any(response.is_hit for response in responses), "each question is asked once"
        return [response.seconds * 1000 for response in responses]

    def _requests(self, key: str, subject: str) -> Iterator[bytes]:
        """Endless, each replaces one sentence, with others for each subject."""
        url = f"{self._gateway.url}/v1/documents/edited-by-{subject}"
        for text in topics.edits(generated_corpus.built(), f"{_SEED} {subject}"):
            body = orjson.dumps({"text": text, "language": "en", "readers": ["tenant"]})
            yield encode_request("PUT", url, key, body)


def compare(shards: Editor, without: Editor, *, edits: int) -> EditDifference:
    """So many edits of each in turns, of which the other one begins each time."""
    times: tuple[list[EditTimes], list[EditTimes]] = [], []
    turn = [(shards, times[0]), (without, times[1])]
    for _ in range(edits):
        for editor, taken in turn:
            taken.append(editor.take())
        turn.reverse()
    return difference(*times)


def difference(shards: Sequence[EditTimes], without: Sequence[EditTimes]) -> EditDifference:
    """Compares the times of each turn with each other."""
    turns = zip(shards, without, strict=True)
    more_ms = median(times.total_ms - others.total_ms for times, others in turns)
    return EditDifference(_medians(shards), _medians(without), more_ms)


def _medians(times: Sequence[EditTimes]) -> dict[str, float]:
    each = [asdict(one) | {"total_ms": one.total_ms} for one in times]
    return {name: median(one[name] for one in each) for name in each[0]}
