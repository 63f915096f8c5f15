"""Rules that are broken one after the other, each of which a soak has to find."""

from collections.abc import Callable, Mapping
from typing import Any

from loadtests.bench.section import Bar, Section, table
from loadtests.mutants.mutant import Mutant
from loadtests.soak import run
from loadtests.soak.audit import VIOLATIONS
from loadtests.soak.driver import Soak
from loadtests.soak.options import SoakOptions

_FOUND = [violation for violation in VIOLATIONS if violation != "failed"]


def options(mutant: Mutant, **more: Any) -> SoakOptions:
    """Queued writes and credentials are left out, since no mutant concerns them."""
    return SoakOptions(
        answers=0,
        faults=mutant.faults,
        plain=True,
        until_caught=not mutant.is_control,
        **more,
    )


def section(
    text: str, mutants: Mapping[str, Mutant], broken: Callable[[str, Mutant], Soak]
) -> Section:
    """broken: a soak, after it has ended, whose servers break the rule of that name."""
    rows, figures, missed = [], dict[str, Any](), 0
    for name, mutant in mutants.items():
        soak = broken(name, mutant)
        counts = soak.context.audit.counts
        missed += not _is_right(name, mutant, soak)
        wrong = ", ".join(f"{counts[violation]} {violation}" for violation in _FOUND)
        rows.append((mutant.what, f"{soak.seconds:.1f}", f"{counts['judged']:,}", wrong))
        figures[name] = {"seconds": round(soak.seconds, 1), **counts}
    bars = [Bar("broken rules that were not found, or found where none is", missed, at_most=0)]
    head = ("broken rule", "seconds", "judged", "found")
    return Section("Broken rules", f"{text}\n\n{table(head, rows)}", figures, bars)


def _is_right(name: str, mutant: Mutant, soak: Soak) -> bool:
    """Whether the soak found the broken rule, or nothing in a control; says so in one line."""
    has_wrong_answer = soak.context.audit.has_wrong_answer
    is_right = soak.passed if mutant.is_control else has_wrong_answer
    found = "caught" if has_wrong_answer else "nothing found"
    print(f"{'PASS' if is_right else 'FAIL'} {name}: {found}; {run.progress(soak)}", flush=True)
    return is_right
