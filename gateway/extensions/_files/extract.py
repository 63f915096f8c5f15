"""Extracts the text of files in a process of its own.

Run as a module, this file is that process: it reads one file after the other from a connection.
Its memory is limited, and it is killed when a file takes more processor time than its size allows.
"""

import json
import pickle
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from common.processes.bounded_process import ProcessLimits
from common.processes.module_worker import (
    ModuleWorker,
    ProcessEnded,
    ProcessKilled,
    answer_requests,
)
from gateway.extensions._files import content_kind, encoding
from gateway.extensions._files.extracted import (
    DEFAULT_OPTIONS,
    Extracted,
    NotRead,
    ReadOptions,
    Unreadable,
)
from gateway.extensions._files.formats import Formats
from index.model.document_limits import LANGUAGE, TEXT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX

# Starting values, not measured; no document that a person wrote exceeds them. Seconds are those of
# a processor, so that a busy machine refuses no file.
SECONDS_MIN = 5.0  # for any file
SECONDS_MAX = 60.0
BYTES_PER_S = 80_000  # a file has one more second for each; one of 4.4 MB has a minute
MEMORY_BYTES_MAX = 2 * 2**30
CPU_S_MAX = 24 * 3_600  # of all files that one process reads
FRAMES_MAX = 5_000  # of Python's stack

_REPLY_BYTES_MAX = 8 * TEXT_CHARACTERS_MAX  # a character is at most twelve bytes of JSON
_LIMITS = ProcessLimits(MEMORY_BYTES_MAX, CPU_S_MAX)


class Extractor(ModuleWorker):
    """Reads one file after the other in a process of its own, each within its limits."""

    def __init__(self, formats: Formats, options: ReadOptions = DEFAULT_OPTIONS) -> None:
        super().__init__(f"{__package__}.extract", _LIMITS, _REPLY_BYTES_MAX)
        self.formats = formats
        self._options = options

    def extract(self, suffix: str, content: bytes, content_type: str = "") -> Extracted:
        """content_type: the header of a web page. Raises `Unreadable` and `NotRead`."""
        file_format = self.formats[suffix]
        if file_format.missing:
            raise Unreadable(file_format.missing)
        seconds = min(SECONDS_MIN + len(content) / BYTES_PER_S, SECONDS_MAX)
        if self._options.reads_scans and file_format.scans_s is not None:
            seconds = file_format.scans_s
        options = replace(self._options, content_type=content_type)
        try:
            head = pickle.dumps((file_format.name, suffix, file_format.read, options))
            fields = json.loads(self.ask(head, content, cpu_s=seconds))
        except TimeoutError:
            reason = f"takes longer to read than the limit of {seconds:.0f} s of a processor"
            raise Unreadable(reason) from None
        except ProcessKilled:
            raise NotRead(
                "was not read: something else has killed the process that reads files, twice; the "
                "machine may lack memory"
            ) from None
        except ProcessEnded:
            raise Unreadable("takes more memory to read than the limit") from None
        if "refused" in fields:
            raise Unreadable(fields["refused"])
        return Extracted(**fields)


def _read(
    content: bytes,
    name: str,
    suffix: str,
    read: Callable[[bytes, ReadOptions], Extracted],
    options: ReadOptions,
) -> dict[str, Any]:
    """The reply: the extracted fields, or the reason for none. Libraries raise any exception."""
    try:
        extracted = _validate(read(content, options))
    except (Unreadable, encoding.NotText) as error:
        return {"refused": str(error)}
    except RecursionError:
        return {"refused": "is nested too deeply"}
    except MemoryError:
        return {"refused": "takes more memory to read than the limit"}
    except Exception as error:
        message = " ".join(str(error).split())[:200]
        reason = f"is not {name} that can be read: {type(error).__name__}: {message}"
        return {"refused": content_kind.mismatch(suffix, content) or reason}
    return asdict(extracted)


def _validate(extracted: Extracted) -> Extracted:
    text = _normalise_lines(extracted.text)
    if len(text) > TEXT_CHARACTERS_MAX:
        raise Unreadable(
            f"has {len(text):,} characters of text; the limit is {TEXT_CHARACTERS_MAX:,}"
        )
    title = " ".join((extracted.title or "").split())[:TITLE_CHARACTERS_MAX]
    language = (extracted.language or "").replace("_", "-")
    return replace(
        extracted,
        text=text,
        title=title if title or extracted.title == "" else None,
        language=language if LANGUAGE.fullmatch(language) else None,
    )


def _normalise_lines(text: str) -> str:
    """The text without trailing spaces and without consecutive blank lines."""
    lines = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip() + "\n"


def _answer(head: bytes, content: bytes) -> bytes:
    return json.dumps(_read(content, *pickle.loads(head))).encode()  # noqa: S301  the parent's


if __name__ == "__main__":
    sys.setrecursionlimit(FRAMES_MAX)
    answer_requests(2, _answer)
