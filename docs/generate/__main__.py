"""`python -m docs.generate` writes every page of docs/reference."""

from docs.generate.pages import REFERENCE, WRITERS


def main() -> None:
    for name, write in WRITERS.items():
        (REFERENCE / name).write_text(write(), encoding="utf-8")


main()
