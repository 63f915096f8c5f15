"""`python -m docs.generate` writes docs/reference, and the names of settings in the chart."""

from docs.generate import chart
from docs.generate.pages import REFERENCE, WRITERS


def main() -> None:
    for name, write in WRITERS.items():
        (REFERENCE / name).write_text(write(), encoding="utf-8")
    chart.SCHEMA.write_text(chart.schema(), encoding="utf-8")


main()
