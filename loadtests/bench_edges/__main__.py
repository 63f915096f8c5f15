"""Three regions: what a far gateway's answers and writes cost, and that none of them is wrong.

DATA holds real histories; without it they are generated.
"""

from loadtests.bench import frame
from loadtests.bench_edges import judged, latency, write_times

_NOTES = """\
Three regions share the machine: *home* has the primary, *a* is 40 ms away from it and *b* 120 ms, each way; *a* is 160 ms away from *b*.
Each region has a gateway with one worker, a Valkey, and a PostgreSQL; those of *a* and *b* are streaming standbys of the primary.
All between a region and the primary passes a relay that delays each byte, and that can be cut, silenced and led to another primary. Callers are near their gateway.
A [read lease](../design/promises.md#read-leases) lasts 1 s, the default."""  # noqa: E501  a sentence a line

if __name__ == "__main__":
    frame.main(
        target="bench-edges",
        title="Regions",
        notes=_NOTES,
        sections={
            "latency": latency.measure,
            "writes": write_times.measure,
            "judged": judged.measure,
            "mutants": judged.measure_mutants,
        },
    )
