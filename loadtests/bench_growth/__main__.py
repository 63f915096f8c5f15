"""The cost of a request as a deployment grows: chunks, tenants, live answers, writers.

Only `chunks` has targets.
"""

from loadtests.bench import frame
from loadtests.bench_growth import chunks, entries, tenants, writers

_NOTES = """\
QUICK=1 takes smaller sizes and some minutes; `python -m loadtests.bench_growth --only chunks --pick 1000 --pick 1000000` measures a section at other sizes.
Processor time is what the system counted for a server's processes, divided by the requests; memory is PSS, in which a page that processes share is counted once."""  # noqa: E501  a sentence a line


if __name__ == "__main__":
    frame.main(
        target="bench-growth",
        title="Growth",
        notes=_NOTES,
        sections=frame.named(chunks, tenants, entries, writers),
    )
