"""Every answer is judged while regions are cut off, paused and killed, and the primary moves."""

from dataclasses import replace
from functools import partial
from typing import Any

from loadtests.bench.frame import Run
from loadtests.bench.section import Section
from loadtests.bench_edges import faults, regions
from loadtests.bench_edges.regions import EdgeServers
from loadtests.mutants.rules import LEASE, Mutant
from loadtests.soak import run as soak_run
from loadtests.soak import sections
from loadtests.soak.driver import Soak, SoakOptions

# Starting values, not measured.
_CALLERS: dict[str, Any] = {
    "askers": 9,
    "repeaters": 6,
    "writers": 24,
    "write_turns": (0, 0, 0, 1, 0, 0, 0, 1, 2),  # a write from a far region takes seconds
}
_REST_EVERY_S = 60.0
_REST_QUESTIONS = 15
_MUTANT_FAULT_EVERY_S, _MUTANT_REST_QUESTIONS = 2.0, 5
_MUTANTS_TEXT = """\
The servers and the judge are those of the section before. In all gateways and in the worker one \
rule of the read leases is broken; the judge has to find a wrong answer before the time is over. \
With no rule broken it has to find none."""
_TEXT = """\
The judge, the model of rights and the callers are those of the [soak](soak.md), on the clock of \
this machine: *stale* is an answer that misses a write which was acknowledged before it was asked, \
*leaked* one that shows what its caller could no longer read, or to an ended key. Callers and \
writers are in all regions; a gateway in each holds a read lease of 1 s. Beside {askers} callers \
that read in every way, {repeaters} repeat a few questions as fast as one gateway answers them.

- *region cut off:* its connections to the primary are lost, and none can be opened, for up to \
three leases. *Region silent:* nothing comes through; afterwards all of it arrives late.
- *region killed:* its gateway, Redis and standby are killed and started again.
- *gateway paused:* any gateway stops (`SIGSTOP`) for up to three leases, and goes on.
- *primary failed over:* the primary is killed, and a standby that has all that was acknowledged \
is promoted, while the third region is silent and its lease runs on. The relays lead to the new \
primary; no gateway is restarted.
- *primary lost with its last writes:* the promoted standby was cut off before, and lacks what was \
acknowledged last. That is void, and must not be shown when one lease has passed since the \
promotion; until then nothing is judged.

All processes share one clock here. Clocks that run apart are covered by the model of the rules \
(`tests/gateway/extensions/regions/test_read_lease_model.py`), not by this section.

"""


def measure(run: Run) -> Section:
    options = SoakOptions(
        minutes=run.minutes or run.sized(20.0, 4.0),
        answers=run.sized(200_000, 6_000),
        seed=run.seed,
        faults=tuple(faults.FAULTS),
        faults_min=run.sized(45, 9),
        fault_every_s=run.sized(4.0, 1.5),
        rest_every_s=_REST_EVERY_S,
        rest_questions=_REST_QUESTIONS,
        **_CALLERS,
    )
    with regions.judged_servers() as servers:
        section = sections.soak_section(_judged(servers, run, options))
    text = f"{_TEXT.format(**_CALLERS)}{section.text}"
    return replace(section, title="Every answer judged", text=text)


def measure_mutants(run: Run) -> Section:
    """Rules of the read leases that are broken, which the judge has to find."""
    chosen = {name: LEASE[name] for name in run.picked([*LEASE])}
    return sections.mutants_section(_MUTANTS_TEXT, chosen, partial(_broken, run))


def _broken(run: Run, name: str, mutant: Mutant) -> Soak:
    options = sections.mutant_options(
        mutant,
        minutes=run.sized(3.0, 1.5),
        seed=run.seed,
        fault_every_s=_MUTANT_FAULT_EVERY_S,
        rest_every_s=3600.0,  # one rest, at the end
        rest_questions=_MUTANT_REST_QUESTIONS,
        **_CALLERS,
    )
    with regions.judged_servers(
        launcher=("loadtests.mutants", "lease", name), read_lease_s=mutant.read_lease_s
    ) as servers:
        return _judged(servers, run, options)


def _judged(servers: EdgeServers, run: Run, options: SoakOptions) -> Soak:
    return soak_run.soaked(servers, run.data_folder, options, faults.FAULTS, faults.warm_up)
