"""Finds the folders of `gateway.extensions`, and the entry points of other distributions.

Of an extension that is switched off nothing is imported but the rows of its modules that others
refuse by its name.
"""

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import metadata
from typing import Any, ClassVar, Protocol, TypeVar

from common.command_errors import CommandError
from common.version import VERSION
from gateway.settings.groups.lists import listed

_PACKAGE = f"{__package__.rpartition('.')[0]}.extensions"  # `nearhit.gateway.extensions` in a wheel


class RefusableRow(Protocol):
    """missing: why it can't be used; empty: it can."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def missing(self) -> str: ...


Row = TypeVar("Row", bound=RefusableRow)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FoundExtension:
    """origin: the distribution that brings it, with its version.

    import_it: what one of its modules holds, such as `COMMANDS` of `commands`; None if it has no
        such module. Each can be loaded without the others.
    """

    name: str
    origin: str
    import_it: Callable[[str], Any]

    def load(self, module: str, kind: type[T]) -> T | None:
        """What a module holds. Raises `CommandError` if it can't be imported, or is no `kind`."""
        held = self._imported(module)
        if not isinstance(held, kind | None):
            wanted = f"{kind.__module__}.{kind.__name__}"
            raise CommandError(f"{self._label()} can't be loaded: its {module} is no `{wanted}`")
        return held

    def load_rows(self, module: str, row: type[T]) -> Sequence[T]:
        """What one of its modules lists. Raises `CommandError` as `load` does."""
        rows = self._imported(module) or ()
        if not all(isinstance(each, row) for each in rows):
            raise CommandError(f"{self._label()}: one of its {module} is no `{row.__name__}`")
        return tuple(rows)

    def _imported(self, module: str) -> Any:
        try:
            return self.import_it(module)
        except Exception as error:  # its modules may raise anything as they are imported
            raise CommandError(
                f"{self._label()} can't be loaded: {error!r}; update it, or add {self.name} to "
                "NEARHIT_EXTENSIONS_OFF"
            ) from error

    def _label(self) -> str:
        return f"extension {self.name} of {self.origin}"


@cache
def found() -> Mapping[str, FoundExtension]:
    """All extensions that are installed, by name. Raises `CommandError` if two have one name."""
    by_name: dict[str, FoundExtension] = {}
    for extension in (*_own(), *_of_others()):
        other = by_name.setdefault(extension.name, extension)
        if other is not extension:
            raise CommandError(
                f"{other.origin} and {extension.origin} both bring an extension {extension.name}; "
                "uninstall one"
            )
    return by_name


def names_on(names_off: str) -> list[str]:
    """names_off: the setting `extensions_off`."""
    return [name for name in found() if name not in listed(names_off)]


def rows(
    names_off: str,
    module: str,
    row: type[Row],
    names_of: Callable[[Row], Iterable[str]],
    core: Mapping[str, Row],
) -> dict[str, Row]:
    """The rows of a module of all extensions by their names; those of one that is off are missing.

    names_off: the setting `extensions_off`. Raises `CommandError` if two extensions that are on
    have a row of one name, or if the rows of one can't be loaded.
    """
    off, refused, read = listed(names_off), dict[str, Row](), dict(core)
    for name, extension in found().items():
        if name in off:
            with suppress(CommandError):  # it may be off because it can't be loaded
                missing = f"is read by the extension {name}, which is off"
                for each in extension.load_rows(module, row):
                    refused |= dict.fromkeys(names_of(each), replace(each, missing=missing))
            continue
        for each in extension.load_rows(module, row):
            for key in names_of(each):
                if read.setdefault(key, each) is not each:
                    raise CommandError(f"extension {name}: {key} is read already")
    return refused | read


def _own() -> Iterator[FoundExtension]:
    for folder in pkgutil.iter_modules(importlib.import_module(_PACKAGE).__path__):
        if not folder.name.startswith("_"):
            name = folder.name.removesuffix("_")  # of a keyword, which no statement could import
            yield FoundExtension(name, f"nearhit {VERSION}", partial(_import, folder.name))


def _import(folder: str, module: str) -> Any:
    path = f"{_PACKAGE}.{folder}.{module}"
    if importlib.util.find_spec(path) is None:
        return None
    return getattr(importlib.import_module(path), module.upper())


def _of_others() -> Iterator[FoundExtension]:
    for point in metadata.entry_points(group=_group("extension")):
        origin = "an unknown distribution"
        if point.dist is not None:
            origin = f"{point.dist.name} {point.dist.version}"
        yield FoundExtension(point.name, origin, partial(_load, point.name))


def _load(name: str, module: str) -> Any:
    (point,) = metadata.entry_points(group=_group(module), name=name) or (None,)
    return point and point.load()


def _group(module: str) -> str:
    """Of the entry points of other distributions."""
    return "nearhit.extensions" if module == "extension" else f"nearhit.{module}"
