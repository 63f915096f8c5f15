"""What is observed of a run's requests, whichever generator sends them: counted and judged."""

from dataclasses import dataclass

import orjson

from loadtests.load.figures import Figures
from loadtests.load.request import Call
from loadtests.load.response import HttpResponse
from loadtests.loadtest import setup
from loadtests.loadtest.judge import StalenessJudge
from loadtests.loadtest.setup import LoadKeys
from loadtests.workload.agents import AgentRequest
from loadtests.workload.writes import RemoveDocument, Write

OK = 200
_NOBODY = "nh_a-key-that-nobody-has-made"


@dataclass(slots=True)
class Observer:
    """`nearhit loadtest` sends requests when they are due, Locust's users after their answers."""

    keys: LoadKeys
    judge: StalenessJudge
    figures: Figures

    def key(self, request: AgentRequest) -> str:
        """With which the request is sent."""
        return _NOBODY if request.is_stranger else self.keys.readers[request.who]

    def searched(
        self,
        request: AgentRequest,
        reply: HttpResponse,
        floor: int,
        due_s: float,
        *,
        is_counted: bool = True,
    ) -> None:
        """floor: the judge's of the moment when the request was sent."""
        question, figures = request.question, self.figures
        if reply.status != request.expected_status:
            if is_counted:
                figures.failed(due_s, str(reply.status))
            if request.is_stranger and reply.status == OK:
                self.judge.let_in(question.body)
            return
        if is_counted and request.is_stranger:
            figures.refused(due_s)
        elif is_counted:
            figures.answered(due_s, question.scope, reply)
        if not request.is_stranger:
            self.judge.judge(request.who, question.body, reply, floor)

    def begin_write(self, write: Write, at_s: float) -> tuple[Call, str]:
        """The call and its key; from now on the write may have taken effect."""
        self.judge.asked(write, at_s)
        return setup.call_of(write, self.keys, self.judge), self.keys.writers[write.tenant]

    def wrote(self, write: Write, reply: HttpResponse, *, is_first: bool = True) -> bool:
        """Whether the write is acknowledged. is_first: it was not sent before."""
        done = [200, 204]
        if isinstance(write, RemoveDocument):
            # 202: removed, and its invalidation is pending. 404: an earlier attempt removed it.
            done += [202] if is_first else [202, 404]
        if reply.status not in done:
            return False
        result = orjson.loads(reply.body) if reply.status in (200, 202) else {}
        self.judge.acknowledged(write, reply.answered_s, result.get("revision"))
        return True
