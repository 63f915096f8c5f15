"""Formats whose readers do what the process that extracts texts has to bear."""

from functools import partial

from gateway.extensions._files.extracted import Extracted, ReadOptions
from gateway.extensions._files.formats import Format, by_suffix


def _say(content: bytes, _options: ReadOptions, *, title: str) -> Extracted:
    return Extracted(f"{content.decode()}  \n\n\n\nEnd", title, "pt_BR")


def _take_long(_content: bytes, _options: ReadOptions) -> Extracted:
    while True:
        pass


def _take_memory(_content: bytes, _options: ReadOptions) -> Extracted:
    return Extracted("x" * 2**40)


def _nest(content: bytes, options: ReadOptions) -> Extracted:
    return _nest(content, options)


def _fail(content: bytes, _options: ReadOptions) -> Extracted:
    raise KeyError(content.decode())


FORMATS = by_suffix(
    [
        Format("a SAID", (".said",), partial(_say, title=" A  title")),
        Format("a LONG", (".long",), _take_long),
        Format("a LARGE", (".large",), _take_memory),
        Format("a NEST", (".nest",), _nest),
        Format("a FAIL", (".fail",), _fail),
        Format("a LACK", (".lack",), _fail, "needs what is not here"),
    ]
)
