"""What was judged, as tables and as figures."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table

from loadtests.bench_semantic import judge
from loadtests.bench_semantic.replay import Judged

FAMILIES = ("same", "wording", "traffic", "different")  # what a tenant's callers may ask
TRAPS = ("number", "negation", "opposite", "entity")  # what nobody may be served

Figures = dict[str, Any]
_FLOORS = (0.8, 0.85, 0.9, 0.95, 0.98)


def figures(pairs: Sequence[Judged]) -> Figures:
    usual = [pair_result for pair_result in pairs if pair_result.pair.family in FAMILIES]
    spans = zip(_FLOORS, (*_FLOORS[1:], 1.01), strict=True)
    return {
        "similarities": {
            f"{start} to {end}": _measured(
                [pair_result for pair_result in usual if start <= pair_result.similarity < end]
            )
            for start, end in spans
        },
        "families": _by_family(pairs, (*FAMILIES, *TRAPS)),
        "sets": {name: _by_family(own, FAMILIES) for name, own in _by_set(pairs).items()},
        "guards": _guards(pairs),
    }


def shown(tables: Figures) -> Iterable[Table]:
    yield _table("by similarity, traps left out", tables["similarities"])
    yield _table(f"by family, from {judge.SIMILARITY_MIN} on", tables["families"], top=True)
    for name, own in tables["sets"].items():
        yield _table(f"{name}, from {judge.SIMILARITY_MIN} on", own, top=True)
    guards = Table(
        "", *judge.GUARDS, title="pairs that each guard objects to, and that no other does"
    )
    for family, by_guard in tables["guards"].items():
        cells = (
            f"{pair_result['objects']:,} / {pair_result['alone']:,}"
            for pair_result in by_guard.values()
        )
        guards.add_row(family, *cells)
    yield guards


def _by_family(pairs: Sequence[Judged], families: Sequence[str]) -> dict[str, Figures]:
    return {name: _measured(_of(pairs, name)) for name in families}


def _measured(pairs: Sequence[Judged]) -> Figures:
    """Of all, of those that pass, and of those that pass and are similar enough."""
    passing = [pair_result for pair_result in pairs if pair_result.passes]
    top = [pair_result for pair_result in passing if pair_result.may_be_served]
    return {
        "pairs": len(pairs),
        "wrong": _wrong(pairs),
        "passing": len(passing),
        "passing_wrong": _wrong(passing),
        "top": len(top),
        "top_wrong": _wrong(top),
    }


def _guards(pairs: Sequence[Judged]) -> dict[str, dict[str, dict[str, int]]]:
    return {
        family: {
            guard: {
                "objects": sum(
                    guard in pair_result.objections for pair_result in _of(pairs, family)
                ),
                "alone": sum(
                    pair_result.objections == {guard} for pair_result in _of(pairs, family)
                ),
            }
            for guard in judge.GUARDS
        }
        for family in (*FAMILIES, *TRAPS)
    }


def _table(title: str, rows: Mapping[str, Figures], *, top: bool = False) -> Table:
    row_name = "top" if top else "passing"
    table = Table(title=title)
    for name in ("", "pairs", "error unguarded", "would serve", "share", "wrong", "error"):
        table.add_column(name, justify="right" if name else "left")
    for name, row in rows.items():
        if not row["pairs"]:
            continue
        served, wrong = row[row_name], row[f"{row_name}_wrong"]
        table.add_row(
            name,
            f"{row['pairs']:,}",
            f"{row['wrong'] / row['pairs']:.1%}",
            f"{served:,}",
            f"{served / row['pairs']:.1%}",
            str(wrong),
            f"{wrong / served:.2%}" if served else "",
        )
    return table


def _of(pairs: Iterable[Judged], family: str) -> list[Judged]:
    return [pair_result for pair_result in pairs if pair_result.pair.family == family]


def _by_set(pairs: Iterable[Judged]) -> dict[str, list[Judged]]:
    tables: dict[str, list[Judged]] = {}
    for pair_result in pairs:
        tables.setdefault(pair_result.corpus, []).append(pair_result)
    return tables


def _wrong(pairs: Iterable[Judged]) -> int:
    return sum(pair_result.wrong for pair_result in pairs)
