"""The bare app under the load of exact hits: what the machine and the generator take by themselves.

A target in milliseconds is for one machine that does nothing else. The bare app shows whether a run
was on such a machine.
"""

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from loadtests.bench import measurement
from loadtests.load.connection_pool import ConnectionPool
from loadtests.load.figures import Figures
from loadtests.load.request import Call
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.loadtest.judge import StalenessJudge
from loadtests.servers import service
from loadtests.workload.agents import Agents

RATE = 500.0  # per second, that of a busy tenant
USUAL_P99_MS = 1.58  # on the page of commit e67eb62
_TOLERANCE = 0.5  # of the usual P99; a choice, not measured


def hits_load(seconds: float) -> Load:
    """Each agent repeats its one question, and nothing is written."""
    return Load(rate=RATE, writes=0, repeats=1, strangers=0, connections=256, seconds=seconds)


async def drive(
    environment: LoadEnvironment, load: Load, agents: Agents, console: Console
) -> Figures:
    """The load on an app that returns a fixed answer, one of the environment's gateway."""
    request = agents.ask()
    connections = ConnectionPool(
        environment.target.url, connections_max=1, timeout_s=load.timeout_s
    )
    key = environment.keys.readers[request.who]
    answer = await connections.send(Call("POST", "/v1/search", request.question.body), key)
    await connections.close()
    with service.bare(answer.body) as (url, _):
        elsewhere = replace(
            environment,
            target=replace(environment.target, url=url),
            judge=StalenessJudge("no documents"),
        )
        return await measurement.drive(elsewhere, load, agents, console)


def is_usual(p99s_ms: Sequence[float], usual_ms: float) -> bool:
    """Whether each P99 of the bare app is near its usual one; not if it was not measured."""
    return all(abs(p99_ms - usual_ms) <= _TOLERANCE * usual_ms for p99_ms in p99s_ms)


def usual_sentence(p99s_ms: Sequence[float], usual_ms: float) -> str:
    """The bare app's figures of this run, and whether the P99 of the mix is judged."""
    measured = " and ".join(f"{p99_ms:.2f}" for p99_ms in p99s_ms)
    verdict = "is judged" if is_usual(p99s_ms, usual_ms) else "is not judged"
    return (
        f"Before and after that, a bare app had a P99 of {measured} ms at {RATE:g} requests per "
        f"second. It usually has {usual_ms:g} ms on the machine that the target is for. "
        f"The P99 of the mix is judged if both are within {_TOLERANCE:.0%} of that; here it "
        f"{verdict}."
    )
