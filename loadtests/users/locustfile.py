"""The file that Locust runs: agents that ask in bursts, a writer, and the number of users.

Locust's users wait for their answers, so that during a stall at most one request per user waits:
to judge latencies use `nearhit loadtest`. Locust rounds latencies, here to a hundredth of a
millisecond; the report uses the same histograms and the same judge as that command.
"""

import itertools
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import gevent
import locust.stats
import orjson
from locust import FastHttpUser, LoadTestShape, between, events, task

from loadtests.bench import machine
from loadtests.load.figures import Figures
from loadtests.load.response import HttpResponse
from loadtests.loadtest import budget, page, setup
from loadtests.loadtest.environment import texts_of
from loadtests.loadtest.result import Outcome, Result
from loadtests.users import shapes, user_plan
from loadtests.users.user_plan import SPAWNED_A_SECOND
from loadtests.workload import calls
from loadtests.workload.agents import Agents
from loadtests.workload.writes import RemoveDocument

_OK, _NO_CONTENT, _UNAUTHORIZED = 200, 204, 401
_NOBODY = "nh_a-key-that-nobody-has-made"
_REPEATS, _STRANGERS = 0.7, 0.01  # shares of the searches
_WRITES = 2.0  # per second
_BURST = (2, 6)
_GAP_S = (0.05, 0.3)  # between the questions of a burst
_PAUSE_S = (0.5, 2.0)  # between bursts
_PLAN = user_plan.read(Path(os.environ[user_plan.VARIABLE]))
_OPTIONS = _PLAN.options
_WORLD, _JUDGE, _KEYS = _PLAN.world, _PLAN.judge, _PLAN.keys
_TEXTS = texts_of(_WORLD)
_FIGURES = Figures(time.monotonic())
_NUMBERS = itertools.count()
_USERS = [0]  # that Locust has started, each time it was told a number

# To a hundredth of a millisecond.
locust.stats.bucket_response_time = lambda response_time: round(response_time, 2)


class AgentUser(FastHttpUser):
    """One subject, which asks some related questions and then pauses."""

    host = _PLAN.url
    wait_time = between(*_PAUSE_S)

    def on_start(self) -> None:
        number = next(_NUMBERS)
        who = _WORLD.subjects[number % len(_WORLD.subjects)]
        self._random = Random(number)  # noqa: S311  no secret
        shares = {"repeats": _REPEATS, "strangers": _STRANGERS}
        self._agents = Agents(
            [who], _TEXTS, (), **shares, random=self._random, public=_WORLD.public
        )

    @task
    def burst(self) -> None:
        for _ in range(self._random.randint(*_BURST)):
            self._ask()
            gevent.sleep(self._random.uniform(*_GAP_S))

    def _ask(self) -> None:
        request = self._agents.ask()
        key = _NOBODY if request.is_stranger else _KEYS.readers[request.who]
        floor = _JUDGE.floor(request.who[0])
        name = "a stranger" if request.is_stranger else f"scope {request.question.scope}"
        accepted = (_UNAUTHORIZED,) if request.is_stranger else (_OK,)
        call = ("POST", "/v1/search", key, request.question.body)
        status, reply = _exchanged(self.client, call, name, accepted=accepted)
        if request.is_stranger:
            if status == _OK:
                _JUDGE.let_in(request.question.body)
        elif status == _OK:
            _FIGURES.answered(reply.sent_s, request.question.scope, reply)
            _JUDGE.judge(request.who, request.question.body, reply, floor)


class WriterUser(FastHttpUser):
    """The writes of the history, one after the other."""

    host = _PLAN.url
    fixed_count = 1
    writes = _WORLD.writes()

    @task
    def write(self) -> None:
        begun_s = time.monotonic()
        write = next(self.writes)
        _JUDGE.asked(write, begun_s)
        call = setup.call_of(write, _KEYS, _JUDGE)
        key = _KEYS.writers[write.tenant]
        accepted = (200, 202, 204) if isinstance(write, RemoveDocument) else (200, 204)
        status, reply = _exchanged(
            self.client, (*call[:2], key, call.body), calls.label(write), accepted=accepted
        )
        if status in accepted:
            content = orjson.loads(reply.body) if status != _NO_CONTENT else {}
            _JUDGE.acknowledged(write, reply.answered_s, content.get("revision"))
            _FIGURES.wrote(begun_s, reply.answered_s)
        gevent.sleep(max(0.0, begun_s + 1 / _WRITES - time.monotonic()))


if not _OPTIONS.is_page_in_charge:  # Locust uses any shape that this file has

    class ChosenShape(LoadTestShape):
        """The number of users over time."""

        def tick(self) -> tuple[int, float] | None:
            at_s, seconds = self.get_run_time(), _OPTIONS.seconds
            if at_s > seconds:
                return None
            return shapes.users(_OPTIONS.shape, at_s, seconds, _OPTIONS.users), SPAWNED_A_SECOND


@events.spawning_complete.add_listener
def count_users(user_count: int, **_: Any) -> None:
    _USERS.append(user_count)


@events.quitting.add_listener
def report(environment: Any, **_: Any) -> None:
    """Write the report at the end and set the exit code."""
    users = max(_USERS) if _OPTIONS.is_page_in_charge else _OPTIONS.users
    result = Result(
        url=_PLAN.url,
        date=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        command=f"make load SHAPE={_OPTIONS.shape} USERS={users}",
        machine=machine.description(("locust",)),
        summary=f"Locust, {_OPTIONS.shape}: {users} users at most, which wait for answers",
        options={"shape": _OPTIONS.shape, "users": users, "writes": _WRITES},
        seconds=float(max(1, len(_FIGURES.seconds))),
        figures=_FIGURES,
        judge=_JUDGE,
        findings=budget.judged(budget.read(None), _FIGURES, _JUDGE),
    )
    file = _OPTIONS.report
    file.write_text(page.html(result))
    file.with_suffix(".json").write_text(result.as_json())
    print(f"see {file} for details")
    print(result.outcome_line)
    environment.process_exit_code = 0 if result.outcome is Outcome.PASSED else 1


def _exchanged(
    client: Any, call: tuple[str, str, str, bytes], name: str, *, accepted: tuple[int, ...]
) -> tuple[int, HttpResponse]:
    """Status 0: no response. A status that is not accepted is an error, also in Locust's page."""
    method, path, key, body = call
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    _FIGURES.requests += 1
    sent_s = time.monotonic()
    with client.request(
        method, path, data=body, headers=headers, name=name, catch_response=True
    ) as response:
        status = int(response.status_code or 0)
        if status in accepted:
            response.success()
        else:
            response.failure(f"{status}")
            _FIGURES.failed(sent_s, str(status) if status else "no answer")
        kept_headers = {
            header.encode(): response.headers.get(header) or ""
            for header in ("cache-status", "server-timing", "nearhit-revision")
            if status
        }
        return status, HttpResponse(
            status, kept_headers, response.content or b"", sent_s, time.monotonic()
        )
