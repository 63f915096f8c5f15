"""A checkout as a stranger has it, in which the lines of a page are run one after the other.

Its environment has what `pip install .` brings, and not what developers have besides: that would
hide what a page forgets to install. pip is asked as the page says, without an index.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from loadtests.servers.ports import free_port
from tests.conftest import quick_folder
from tests.docs import pasted
from tests.docs.named_tests import ROOT
from tests.packages import make_environment

FIRST_HOUR = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *(ROOT / "docs" / name for name in ("tutorial.md", "operations/run.md")),
]
_STAND_INS = ROOT / "tests" / "docs" / "stand_ins.sh"
_DEVELOPERS = Path(sys.executable).parent
_PROGRAMS = ("docker", "make", "nearhit", "pip", "pytest", "sudo", "uvx")
_IN_SENTENCES = re.compile(rf"`((?:{'|'.join(_PROGRAMS)}) [^`]+)`")
_BUILD = "hatchling"  # pip would fetch it into an environment of its own
# What git does not know, but what Python has compiled.
_IGNORED = {line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines()}
_LEFT_OUT = shutil.ignore_patterns(".git", *_IGNORED - {"__pycache__"})


@dataclass(frozen=True, slots=True)
class Checkout:
    """folder: a copy of this checkout; machine: where a page's /opt and /etc are.

    variables: of the reader's terminal; replaced: words of a page, and what stands for them here.
    """

    folder: Path
    machine: Path
    variables: Mapping[str, str]
    replaced: Mapping[str, str]

    def with_words(self, replaced: Mapping[str, str]) -> "Checkout":
        return replace(self, replaced={**self.replaced, **replaced})

    def localized(self, text: str) -> str:
        for theirs, ours in self.replaced.items():
            text = text.replace(theirs, ours)
        return text

    async def follow(self, lines: Sequence[str]) -> pasted.Ended:
        """Run the lines in one shell, which stops at the first that fails."""
        text = self.localized("\n".join(lines))
        script = f". {shlex.quote(str(_STAND_INS))}\nset -x\n{text}"
        return await pasted.run(script, self.variables, self.folder)


@contextmanager
def checked_out() -> Iterator[Checkout]:
    with quick_folder(for_programs=True) as top:
        folder, home, port = top / "Nearhit für Ana", top / "home", str(free_port())
        shutil.copytree(ROOT, folder, ignore=_LEFT_OUT)
        programs = make_environment(folder / ".venv", ["nearhit", _BUILD])
        (home / "wiki").mkdir(parents=True)
        (home / "wiki" / "leave.md").write_text("# Leave\n\nEverybody gets 25 days.\n")
        (top / "etc" / "systemd" / "system").mkdir(parents=True)
        system = [part for part in os.environ["PATH"].split(":") if part != str(_DEVELOPERS)]
        variables = outside() | {
            "ENVIRONMENT": str(programs.parent),
            "HOME": str(home),
            "MACHINE": str(top),
            "NEARHIT_DATA_DIR": str(top / "data"),
            "NEARHIT_PORT": port,
            "PATH": ":".join([str(programs), *system]),
            "PIP_COMPILE": "0",  # of all modules the lines import a part
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip's way to say that there is none
            "PIP_NO_INDEX": "1",
            "PYTHON": sys.executable,  # which `make` may be told
        }
        yield Checkout(folder, top, variables, {"8080": port})


def outside() -> dict[str, str]:
    """The variables of a terminal in which neither tests run nor `make`."""
    inner = ("MAKE", "MFLAGS", "NEARHIT_", "PYTEST_", "PYTHON")
    return {name: text for name, text in os.environ.items() if not name.startswith(inner)}


def lines_of(page: Path) -> list[str]:
    """All that the page tells to run in a shell, in its order: in blocks, and within sentences.

    A program in Python is saved and run. SQL is given to the psql that the page names.
    """
    text = page.read_text(encoding="utf-8")
    found: list[tuple[bool, str]] = []  # whether in a block
    for part in re.split(r"^(```\w+\n.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        language, _, block = part.removeprefix("```").partition("\n")
        if not part.startswith("```"):
            found += [(False, line) for line in _IN_SENTENCES.findall(part)]
        elif language == "sh":
            found += [(True, line) for line in pasted.commands(block)]
        elif language == "python":
            found.append((True, f"cat > ask.py <<'END'\n{block}END"))
            if "python ask.py" not in text:
                found.append((True, "python ask.py"))
        elif language == "sql":
            (psql,) = re.findall(r"`([^`]*\bpsql)`", text)
            found.append((True, f"{psql} <<'END'\n{block}END"))
    blocks = [line for in_block, line in found if in_block]
    named = {line: None for in_block, line in found if not in_block and not _is_in(line, blocks)}
    return [line for in_block, line in found if in_block or named.pop(line, line) is None]


def _is_in(sentence: str, lines: list[str]) -> bool:
    """Whether the sentence only names what a block runs, maybe with another word for its N."""
    beginning = re.compile(re.sub(r"\b[A-Z]+\b", r"\\S+", re.escape(sentence)))
    return any(map(beginning.match, lines))
