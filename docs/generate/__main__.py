"""`python -m docs.generate` writes the pages that are made of code and figures.

It also writes the names of settings in the chart.
"""

from docs.generate import chart, pages


def main() -> None:
    for path, text in pages.built().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    chart.SCHEMA.write_text(chart.schema(), encoding="utf-8")


main()
