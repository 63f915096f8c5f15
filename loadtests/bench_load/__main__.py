"""What load a gateway bears, and how fast it is at half of that.

DATA holds real histories; without it they are generated.
"""

from loadtests.bench import frame
from loadtests.bench_load import hits, mix, subscriptions

_NOTES = """\
One gateway with one worker, its PostgreSQL, its Valkey and the load generator share the machine.
Each request is sent when it is due and timed from then, whatever became of those before it; [how load is judged](../design/building.md#load-is-judged-by-when-requests-were-due) says why."""  # noqa: E501  a sentence a line

if __name__ == "__main__":
    frame.main(
        target="bench-load",
        title="Load",
        notes=_NOTES,
        sections=frame.named(hits, mix, subscriptions),
    )
