"""The encoding of a text: by its byte order mark, by what is declared, or else by its bytes.

Labels mean what they mean to browsers (https://encoding.spec.whatwg.org): `gb2312` is GB 18030, and
`latin1` is Windows-1252. Bytes of which nothing is declared are UTF-8 if most beyond ASCII are, and
otherwise what Firefox's detector takes them for.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import islice
from typing import BinaryIO

import webencodings
from chardetng_py import EncodingDetector

_BLOCK_BYTES = 65_536
_DETECTED_BLOCKS_MAX = 4  # beyond ASCII; each takes 15 ms

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # it begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Python's codecs that decode what the standard does, where webencodings names narrower ones.
_SUPERSETS = {"gbk": "gb18030", "euc-jp": "euc_jis_2004", "iso-2022-jp": "iso2022_jp_ext"}
_NOT_DECLARABLE = frozenset({"replacement", "x-user-defined"})
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
# By https://mimesniff.spec.whatwg.org/#binary-data-byte no text has any; some have a few.
_BINARY = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_BINARY_SHARE_MAX = 0.01  # to the first bytes; about 0.1 in archives and images
_STRAY_MAX = 3  # in a short text
# No 8-bit text has other control bytes; in UTF-16 they are halves of most letters beyond Latin.
_LETTERS_AND_ZEROS = re.compile(rb"[\x00\t\n\r\x20-\x7e\x80-\xff]*")
_UTF_16_SHARE_MIN = 0.05  # of pairs with a zero byte: English has nearly 1, and Russian 0.15


class NotText(ValueError):
    """The bytes are no text in any encoding."""


def decode(content: bytes, labels: Iterable[str] = ()) -> str:
    """The text; a byte that is wrong in its encoding costs one character, U+FFFD.

    Arguments and errors are those of `encoding_of`.
    """
    return content.decode(encoding_of(BytesIO(content), labels), "replace")


def encoding_of(file: BinaryIO, labels: Iterable[str] = ()) -> str:
    """Python's name of the encoding of a file at its start, where it is left.

    The whole file is read if nothing is declared. Decode it with `replace`, as `decode` does.
    labels: the declared encodings, of which the first known one counts. Raises `NotText`.
    """
    try:
        return _find(file, labels)
    finally:
        file.seek(0)


def charsets(content_type: str) -> list[str]:
    """The labels of encodings in a `Content-Type`."""
    return _CHARSET.findall(content_type)


def codec(label: str) -> str | None:
    """Python's name of the encoding that browsers understand by the label; None if none."""
    encoding = webencodings.lookup(label)
    if encoding is None or encoding.name in _NOT_DECLARABLE:
        return None
    name: str = encoding.codec_info.name
    return _SUPERSETS.get(encoding.name, name)


def _find(file: BinaryIO, labels: Iterable[str]) -> str:
    start = file.read(_BLOCK_BYTES)
    for mark, name in _MARKS:
        if start.startswith(mark):
            return name
    if (declared := next(filter(None, map(codec, labels)), None)) is not None:
        return declared
    guess = _utf_16(start) or ("utf-8" if _is_utf_8(file) else _detect(file))
    stray_max = max(_STRAY_MAX, _BINARY_SHARE_MAX * len(start))
    if len(_BINARY.findall(start.decode(guess, "replace"))) > stray_max:
        raise NotText("is no text")
    return guess


def _utf_16(start: bytes) -> str | None:
    """UTF-16 without a mark has zero bytes on one side of its pairs: of spaces, or of all ASCII."""
    first, second = start[::2].count(0), start[1::2].count(0)
    most, pairs = max(first, second), len(start) / 2
    if most < max(2, _UTF_16_SHARE_MIN * pairs) or 10 * min(first, second) > most:  # one is stray
        return None
    name = "utf-16-be" if first > second else "utf-16-le"
    # Of Latin each pair has one; a stray zero byte in it must not make pairs of the others.
    if most < 0.5 * pairs and (
        _LETTERS_AND_ZEROS.fullmatch(start) or _BINARY.search(start.decode(name, "replace"))
    ):
        return None
    return name


def _is_utf_8(file: BinaryIO) -> bool:
    """Whether most characters beyond ASCII are right in UTF-8.

    Texts in other encodings hardly ever form one by chance. ISO 2022 is ASCII, with escapes.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    right = wrong = escapes = 0
    for block in _blocks(file):
        text = decoder.decode(block)
        lost = text.count("\ufffd") - block.count(b"\xef\xbf\xbd")  # some texts contain it
        right += len(text) - len(text.encode("ascii", "ignore")) - lost
        wrong += lost
        escapes += block.count(b"\x1b")
    wrong += len(decoder.decode(b"", final=True))
    return right >= wrong and (right > 0 or not escapes)


def _detect(file: BinaryIO) -> str:
    detector = EncodingDetector()
    telling = (block for block in _blocks(file) if not block.isascii() or b"\x1b" in block)
    for block in islice(telling, _DETECTED_BLOCKS_MAX):
        detector.feed(block, last=False)
    detector.feed(b"", last=True)
    label = detector.guess(tld=None, allow_utf8=False)
    return codec(label) or label


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    return iter(lambda: file.read(_BLOCK_BYTES), b"")
