"""Writes the types of the clients, and their method for each call, from the API's description.

python -m clients.generate                the Python client's, which are committed
python -m clients.generate --typescript   the TypeScript client's, which each of its builds makes
"""

import argparse

from clients.generate import python, typescript
from clients.generate.operation import described


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--typescript", action="store_true")
    language = typescript if parser.parse_args().typescript else python
    for path, text in language.files(*described()).items():
        path.write_text(text, encoding="utf-8")


main()
