"""The text of scanned pages, by RapidOCR and the model in its package: the extra `ocr`.

The model reads print in Latin letters with their accents, Chinese and Japanese.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypdf import PageObject

SECONDS_MAX = 60.0  # of a processor, after which no other page is begun; one takes 3 to 20 s
READING_S_MAX = SECONDS_MAX + 60.0  # of a file with them; a starting value
_THREADS = 2
_SAME_LINE = 0.5  # of a line's height, by which the pieces of a line differ in theirs
_PARAGRAPH = 0.7  # of a line's height, between two paragraphs


def read(pages: Sequence["PageObject"], numbers: Iterable[int]) -> Mapping[int, str]:
    """The text of the pages with these numbers, as far as there is time for it."""
    started_s = time.process_time()
    texts: dict[int, str] = {}
    for number in numbers:
        if texts and time.process_time() - started_s > SECONDS_MAX:
            break
        with suppress(Exception):  # of libraries, and for lack of memory: the page stays unread
            images = [file.image for file in pages[number].images if file.image is not None]
            largest = max(images, key=lambda image: image.width * image.height)
            texts[number] = read_image(largest)
    return texts


def read_image(image: Any) -> str:
    """The lines of the image, from top to bottom. image: of Pillow."""
    found = _engine()(image.convert("RGB"))
    if found.boxes is None:
        return ""
    pieces = [
        (min(y for _, y in box), max(y for _, y in box), min(x for x, _ in box), text)
        for box, text in zip(found.boxes.tolist(), found.txts, strict=True)
    ]
    return _join(sorted(pieces))


def _join(pieces: Iterable[tuple[float, float, float, str]]) -> str:
    """The pieces, each with its top, bottom and left edge; sorted by their tops."""
    lines: list[tuple[float, float, list[tuple[float, str]]]] = []
    for top, bottom, left, text in pieces:
        if lines and top - lines[-1][0] < _SAME_LINE * (bottom - top):
            lines[-1][2].append((left, text))
        else:
            lines.append((top, bottom, [(left, text)]))
    text, last_bottom = "", 0.0
    for top, bottom, parts in lines:
        is_apart = top - last_bottom > _PARAGRAPH * (bottom - top)
        text += ("\n\n" if is_apart else "\n") if text else ""
        text += " ".join(part for _, part in sorted(parts))
        last_bottom = bottom
    return text


@cache
def _engine() -> Any:
    from rapidocr import RapidOCR  # it takes 3 s to load

    threads = {"intra_op_num_threads": _THREADS, "inter_op_num_threads": 1}
    engine = {f"EngineConfig.onnxruntime.{name}": value for name, value in threads.items()}
    return RapidOCR(params={"Global.log_level": "critical", **engine})
