"""How fast the cache answers, and how precisely it invalidates.

Of the sections only `hit_rate` needs DATA.
"""

from loadtests.bench import frame
from loadtests.bench_cache import admission, hit_rate, invalidation, mcp, speed

_NOTES = """\
FOLDER holds a real handbook and the edits made to it: `edits_18f_handbook/snapshot.jsonl.gz` {path, text} and `edits_18f_handbook/events.jsonl.gz` {op, path, from, text}; only `hit_rate` reads them."""  # noqa: E501  a sentence a line

if __name__ == "__main__":
    frame.main(
        target="bench-cache",
        title="Benchmark of the cache",
        notes=_NOTES,
        sections=frame.named(speed, admission, mcp, invalidation, hit_rate),
    )
