"""`python -m docs.generate` writes docs/reference, and the names of settings in the chart."""

from docs.generate import chart, http
from docs.generate.pages import REFERENCE, WRITERS


def main() -> None:
    (REFERENCE / http.FOLDER).mkdir(exist_ok=True)
    written = {name: write() for name, write in WRITERS.items()}
    for name, text in {**written, **http.pages()}.items():
        (REFERENCE / name).write_text(text, encoding="utf-8")
    chart.SCHEMA.write_text(chart.schema(), encoding="utf-8")


main()
