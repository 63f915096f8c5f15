"""`python -m docs.generate` writes the pages that are made of code and figures.

It also writes the names of settings in the chart.
"""

from docs.generate import chart, pages


def main() -> None:
    written = {pages.REFERENCE / name: write() for name, write in pages.WRITERS.items()}
    for path, text in {**written, **pages.of_the_site_alone()}.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    chart.SCHEMA.write_text(chart.schema(), encoding="utf-8")


main()
