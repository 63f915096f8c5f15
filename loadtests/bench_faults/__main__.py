"""Faults under load: how many requests fail, for how long, and whether answers are stale or leaked.

DATA holds real histories; without it they are generated.
"""

from loadtests.bench import frame
from loadtests.bench_faults import sections

_NOTES = """\
One gateway with one worker, its PostgreSQL, its Valkey and the load generator share the machine; the generator sends 100 searches per second, each when it is due, and two writes per second, which it repeats until they are acknowledged.
Each fault lasts five seconds; *during* ends when the fault ends, and *seconds to recover* counts from then until the last search that failed or took more than 250 ms.
A fault of Redis, slow connections and an unavailable embedding service may cause no errors; PostgreSQL and the gateway may while they are down."""  # noqa: E501  a sentence a line

if __name__ == "__main__":
    frame.main(
        target="bench-faults",
        title="Faults under load",
        notes=_NOTES,
        sections={"servers": sections.measure_servers, "embedder": sections.measure_embedder},
    )
