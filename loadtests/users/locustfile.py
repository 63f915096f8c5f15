"""The file that Locust runs: agents that ask in bursts, a writer, and the number of users.

Locust's users wait for their answers, so that during a stall at most one request per user waits:
to judge latencies use `nearhit loadtest`. Locust rounds latencies, here to a hundredth of a
millisecond; the report, the questions, the writes and the judge are those of that command.
"""

import itertools
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import gevent
import locust.stats
from locust import FastHttpUser, LoadTestShape, between, events, task

from loadtests.bench import machine
from loadtests.load import schedule
from loadtests.load.figures import Figures
from loadtests.load.request import Call
from loadtests.load.response import KEPT_HEADERS, HttpResponse
from loadtests.loadtest import budget, page
from loadtests.loadtest.driver import Load, Observer
from loadtests.loadtest.result import Outcome, Result
from loadtests.users import user_plan
from loadtests.users.user_plan import SPAWNED_A_SECOND
from loadtests.workload.writes import label_of

_WRITE_DONE = (200, 202, 204)
_BURST_GAP_S = (0.05, 0.3)  # between the questions of an agent
_PAUSE_S = (0.5, 2.0)  # between bursts
_BURST = (2, 6)
_ENVIRONMENT, _OPTIONS = user_plan.read(Path(os.environ[user_plan.VARIABLE]))
_OBSERVER = Observer(_ENVIRONMENT.keys, _ENVIRONMENT.judge, Figures(time.monotonic()))
_FIGURES, _JUDGE = _OBSERVER.figures, _OBSERVER.judge
_LOAD = Load()  # its shares of the searches, and its writes
_NUMBERS = itertools.count()
_USERS = [0]  # that Locust has started, each time it was told a number

# To a hundredth of a millisecond.
locust.stats.bucket_response_time = lambda response_time: round(response_time, 2)


class AgentUser(FastHttpUser):
    """One subject, which asks some related questions and then pauses."""

    host = _ENVIRONMENT.target.url
    wait_time = between(*_PAUSE_S)

    def on_start(self) -> None:
        number, subjects = next(_NUMBERS), _ENVIRONMENT.world.subjects
        load = Load(seed=number)
        self._agents = _ENVIRONMENT.agents(load, [subjects[number % len(subjects)]])
        self._random = load.random("pauses")

    @task
    def burst(self) -> None:
        for _ in range(self._random.randint(*_BURST)):
            self._ask()
            gevent.sleep(self._random.uniform(*_BURST_GAP_S))

    def _ask(self) -> None:
        request, sent_s = self._agents.ask(), time.monotonic()
        floor = _JUDGE.floor(request.who[0])
        name = "a stranger" if request.is_stranger else f"scope {request.question.scope}"
        call, accepted = Call("POST", "/v1/search", request.question.body), request.expected_status
        _FIGURES.began(sent_s, sent_s)
        reply = _exchanged(self.client, call, _OBSERVER.key(request), name, [accepted])
        if reply is None:
            _FIGURES.failed(sent_s, "no answer")
        else:
            _OBSERVER.searched(request, reply, floor, reply.sent_s)


class WriterUser(FastHttpUser):
    """The writes of the history, one after the other."""

    host = _ENVIRONMENT.target.url
    fixed_count = 1

    @task
    def write(self) -> None:
        begun_s, write = time.monotonic(), next(_ENVIRONMENT.writes)
        call, key = _OBSERVER.begin_write(write, begun_s)
        _FIGURES.requests += 1
        reply = _exchanged(self.client, call, key, label_of(write), _WRITE_DONE)
        if reply is not None and _OBSERVER.wrote(write, reply):
            _FIGURES.wrote(begun_s, reply.answered_s)
        else:
            _FIGURES.write_failed(begun_s, "no answer" if reply is None else str(reply.status))
        gevent.sleep(max(0.0, begun_s + 1 / _LOAD.writes - time.monotonic()))


if not _OPTIONS.is_page_in_charge:  # Locust uses any shape that this file has

    class ChosenShape(LoadTestShape):
        """The number of users over time."""

        def tick(self) -> tuple[int, float] | None:
            users = schedule.rate_at(_OPTIONS.stages, self.get_run_time())
            return None if users is None else (max(1, round(users)), SPAWNED_A_SECOND)


@events.spawning_complete.add_listener
def count_users(user_count: int, **_: Any) -> None:
    _USERS.append(user_count)


@events.quitting.add_listener
def report(environment: Any, **_: Any) -> None:
    """Write the report at the end and set the exit code."""
    users = max(_USERS) if _OPTIONS.is_page_in_charge else _OPTIONS.users
    result = Result(
        url=_ENVIRONMENT.target.url,
        date=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        command=f"make load SHAPE={_OPTIONS.shape} USERS={users}",
        machine=machine.description(("locust",)),
        summary=f"Locust, {_OPTIONS.shape}: {users} users at most, which wait for answers",
        options={"shape": _OPTIONS.shape, "users": users, "writes": _LOAD.writes},
        seconds=float(max(1, len(_FIGURES.seconds))),
        figures=_FIGURES,
        judge=_JUDGE,
        findings=budget.judged(_OPTIONS.limits, _FIGURES, _JUDGE),
    )
    file = _OPTIONS.report
    file.write_text(page.html(result))
    file.with_suffix(".json").write_text(result.as_json())
    print(f"see {file} for details")
    print(result.outcome_line)
    environment.process_exit_code = 0 if result.outcome is Outcome.PASSED else 1


def _exchanged(
    client: Any, call: Call, key: str, name: str, accepted: Sequence[int]
) -> HttpResponse | None:
    """None if there is no response. A status that is not accepted is an error of Locust's page."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    sent_s = time.monotonic()
    with client.request(
        call.method, call.path, data=call.body, headers=headers, name=name, catch_response=True
    ) as response:
        status = int(response.status_code or 0)
        if status in accepted:
            response.success()
        else:
            response.failure(f"{status}")
        if not status:
            return None
        kept = {header: response.headers.get(header.decode()) for header in KEPT_HEADERS}
        present = {header: value for header, value in kept.items() if value is not None}
        return HttpResponse(status, present, response.content or b"", sent_s, time.monotonic())
