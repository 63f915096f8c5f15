"""The judge can fail: gateways with one rule of read leases broken, which it has to find."""

from typing import Any

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_edges import edge_servers, judged
from loadtests.bench_edges.options import EdgesRun
from loadtests.mutants.lease_rules import MUTANTS
from loadtests.mutants.mutant import Mutant
from loadtests.soak import run as soak_run
from loadtests.soak.audit import VIOLATIONS
from loadtests.soak.driver import Soak

_TEXT = """\
The servers and the judge are those of the section before. In all gateways and in the worker one \
rule of the read leases is broken; the judge has to find a wrong answer before the time is over. \
With no rule broken it has to find none."""
_FAULT_EVERY_S = 2.0
_REST_EVERY_S, _REST_QUESTIONS = 3600.0, 5  # one rest, at the end


def measure(run: EdgesRun) -> Section:
    rows, figures, missed = [], dict[str, Any](), 0
    for name in run.options.mutant or MUTANTS:
        mutant = MUTANTS[name]
        soak = _soaked(name, mutant, run)
        audit = soak.context.audit
        is_right = audit.has_wrong_answer != mutant.is_control
        missed += not is_right
        wrong = ", ".join(f"{audit.counts[kind]} {kind}" for kind in VIOLATIONS[:4])
        soak_run.show_mutant(name, soak, is_right=is_right)
        rows.append((mutant.what, f"{soak.seconds:.1f}", f"{audit.counts['judged']:,}", wrong))
        figures[name] = {"seconds": round(soak.seconds, 1), **audit.counts}
    text = f"{_TEXT}\n\n{table(('broken rule', 'seconds', 'judged', 'found'), rows)}"
    bars = [Bar("broken rules that were not found, or found where none is", missed, at_most=0)]
    return Section("Broken rules", text, figures, bars)


def _soaked(name: str, mutant: Mutant, run: EdgesRun) -> Soak:
    options = soak_run.mutant_options(
        mutant,
        minutes=run.options.mutant_s / 60,
        seed=run.options.seed,
        fault_every_s=_FAULT_EVERY_S,
        rest_every_s=_REST_EVERY_S,
        rest_questions=_REST_QUESTIONS,
        **judged.CALLERS,
    )
    with edge_servers.running(
        reads_standby=bool(run.options.standbys),
        delays=run.options.delays,
        launcher=("loadtests.mutants", "lease", name),
        read_lease_s=mutant.read_lease_s,
    ) as servers:
        return judged.judged(servers, run, options)
