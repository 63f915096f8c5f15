"""The lines that a soak prints: its progress and its verdict."""

from loadtests.soak.audit import VIOLATIONS
from loadtests.soak.driver import Soak

_COUNTED = ("judged", *VIOLATIONS)


def progress(soak: Soak) -> str:
    audit = soak.context.audit
    compared = audit.counts["compared_at_work"] + audit.counts["compared_at_rest"]
    violations = ", ".join(f"{audit.counts[name]} {name}" for name in VIOLATIONS)
    waiting = len(soak.context.state.jobs)
    return (
        f"{soak.seconds:4.0f} s  {soak.writers.written:,} writes, {waiting} queued, "
        f"{audit.counts['judged']:,} answers, {compared:,} compared, {violations}; last fault: "
        f"{audit.fault}"
    )


def verdict(soak: Soak) -> str:
    """PASS or FAIL, with the counts."""
    return f"{'PASS' if soak.context.audit.held else 'FAIL'} {counts(soak)}"


def counts(soak: Soak) -> str:
    """The counts: total, by way of reading and by fault."""
    audit = soak.context.audit
    total = " ".join(f"{name}={audit.counts[name]}" for name in _COUNTED)
    paths = ", ".join(
        f"{path}: {_few({name: audit.by_path[path, name] for name in _COUNTED})}"
        for path in sorted({path for path, _ in audit.by_path})
    )
    faults = ", ".join(
        f"{fault}: {_few({name: audit.by_fault[fault, name] for name in _COUNTED})}"
        for fault in sorted({fault for fault, _ in audit.by_fault})
    )
    return f"{total} | {paths} | {faults}"


def _few(counts_by_name: dict[str, int]) -> str:
    """The number of judged answers, and of each violation."""
    wrong = [
        f"{count} {name}" for name, count in counts_by_name.items() if count and name != "judged"
    ]
    return " ".join([str(counts_by_name["judged"]), *wrong])
