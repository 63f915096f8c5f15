"""How fast the cache answers, and how precisely it invalidates.

The first four need no DATA; `sharing` uses a generated history without it.
"""

from loadtests.bench import frame
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

_NOTES = """\
FOLDER holds a real handbook and the edits made to it: `edits_18f_handbook/snapshot.jsonl.gz` {path, text} and `edits_18f_handbook/events.jsonl.gz` {op, path, from, text}; `speed`, `admission`, `mcp` and `invalidation` need none. `sharing` reads the groups of a real organisation, `acl_k8s_org`, or generates some. `streams` reads `banking77_en`, `pira_paraphrase`, `pira_en`, `pira_pt`, `medquad_en`, `squad_sent_dev` and `xquad_en`."""  # noqa: E501  a sentence a line

if __name__ == "__main__":
    frame.main(
        target="bench-cache",
        title="Benchmark of the cache",
        notes=_NOTES,
        options=CacheOptions,
        sections=frame.named(
            speed, admission, mcp, invalidation, precision, hit_rate, sharing, streams
        ),
    )
