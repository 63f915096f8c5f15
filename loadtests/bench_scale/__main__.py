"""More than one gateway behind HAProxy.

`bench_edges` has gateways that are far from their PostgreSQL. Needs HAProxy and PgBouncer
(apt-get install haproxy pgbouncer). DATA holds real histories; without it they are generated.
"""

from loadtests.bench import frame
from loadtests.bench_scale import many, restart, throughput

_NOTES = """\
The gateways, with one worker each, share a PostgreSQL and a Valkey; HAProxy sends each request to the gateway with the fewest open requests."""  # noqa: E501  a sentence a line

if __name__ == "__main__":
    frame.main(
        target="bench-scale",
        title="More than one gateway",
        notes=_NOTES,
        sections=frame.named(throughput, restart, many),
    )
