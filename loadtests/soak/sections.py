"""The soaks: with all servers well, with faults, and with rules broken."""

from contextlib import AbstractContextManager

from loadtests.bench.frame import Run
from loadtests.bench.section import Section
from loadtests.mutants.mutant import Mutant
from loadtests.mutants.rules import CACHE
from loadtests.servers import server_set
from loadtests.servers.server_set import ServerSet
from loadtests.soak import broken_rules, outcome, run
from loadtests.soak.driver import Soak
from loadtests.soak.faults.faults import FAULTS
from loadtests.soak.options import SETTINGS, WITHOUT_SHARDS, SoakOptions

_GATEWAYS = 2
_MUTANT_MINUTES, _MUTANT_REST_S, _MUTANT_FAULT_EVERY_S = 1.0, 10.0, 5.0
# Some broken rules show only in the milliseconds between a commit and the end of its drain.
_MUTANT_COMPARED_SHARE = 0.5
_MUTANTS_TEXT = """\
In both gateways and in the worker one rule of the cache is broken; the soak has to find a wrong \
answer within a minute. With no rule broken it has to find none."""


def soak(bench: Run) -> Section:
    """All servers are well."""
    return _measured(bench)


def faults(bench: Run) -> Section:
    """Servers are killed, paused, filled, restored and failed over."""
    return _measured(bench, tuple(bench.picked([*FAULTS])))


def mutants(bench: Run) -> Section:
    """Rules of the cache are broken, each of which has to be found."""

    def broken(name: str, mutant: Mutant) -> Soak:
        options = broken_rules.options(
            mutant,
            minutes=_MUTANT_MINUTES,
            seed=bench.seed,
            fault_every_s=_MUTANT_FAULT_EVERY_S,
            rest_every_s=_MUTANT_REST_S,
            compared_share=_MUTANT_COMPARED_SHARE,
        )
        with _running(launcher=("loadtests.mutants", "cache", name)) as started:
            return run.soaked(started, bench.data_folder, options, FAULTS)

    chosen = {name: CACHE[name] for name in bench.picked([*CACHE])}
    return broken_rules.section(_MUTANTS_TEXT, chosen, broken)


def _measured(bench: Run, faults: tuple[str, ...] = ()) -> Section:
    options = SoakOptions(
        minutes=bench.minutes or bench.sized(10.0, 2.0),
        answers=bench.sized(100_000, 1_000),
        seed=bench.seed,
        faults=faults,
        faults_min=len(faults),
        fault_every_s=bench.sized(20.0, 1.0),
    )
    with _running() as started:
        return outcome.section(run.soaked(started, bench.data_folder, options, FAULTS))


def _running(launcher: tuple[str, ...] = ("gateway",)) -> AbstractContextManager[ServerSet]:
    return server_set.running(
        _GATEWAYS, SETTINGS, works=True, last_settings=WITHOUT_SHARDS, launcher=launcher
    )
