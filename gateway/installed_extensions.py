"""Finds the extensions: folders of `gateway.extensions`, and entry points of other distributions.

The core names none of them. Of one that is switched off nothing is imported but what files, paths
and fields of searches it serves, to refuse them by its name, and what servers it runs, where there
are no others.
"""

import asyncio
import importlib
import importlib.util
import pkgutil
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import metadata
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from common.version import VERSION
from gateway import extensions
from gateway.errors import CommandError
from gateway.settings.groups.lists import listed
from ingest.parse.formats import TEXT_FORMATS, Format, Formats, by_suffix

if TYPE_CHECKING:  # `nearhit --help` finds the commands of extensions, and loads no gateway
    from pydantic import BaseModel
    from typer import Typer

    from gateway.extension import Extension
    from gateway.monitoring.metrics import Metrics
    from gateway.services import Services
    from ingest.sources.kinds import PathKind

Row = TypeVar("Row", Format, "PathKind")
T = TypeVar("T")

# The modules that an extension may have, each loaded without the others, and what each holds. The
# entry point of another distribution is in the group `nearhit.` and the name of the module.
_HOLDS = {
    "extension": "EXTENSION",
    "commands": "COMMANDS",
    "formats": "FORMATS",
    "path_kinds": "PATH_KINDS",
    "search_fields": "SEARCH_FIELDS",
    "servers": "SERVERS",
}
_GROUPS = {module: f"nearhit.{module}" for module in _HOLDS} | {"extension": "nearhit.extensions"}


@dataclass(frozen=True, slots=True)
class FoundExtension:
    """origin: the distribution that brings it, with its version.

    import_it: what one of its modules holds; None if it has no such module.
    """

    name: str
    origin: str
    import_it: Callable[[str], Any]

    def load(self) -> "Extension[Any]":
        """Raises `CommandError` if its modules can't be imported, or hold something else."""
        from gateway.extension import Extension

        extension = self._imported("extension")
        if not isinstance(extension, Extension):
            raise CommandError(f"{self._label()} is no `gateway.extension.Extension`")
        return extension

    def load_commands(self) -> "Typer | None":
        """What it adds to the command line. Raises `CommandError` as `load` does."""
        from typer import Typer

        commands = self._imported("commands")
        if not isinstance(commands, Typer | None):
            raise CommandError(f"{self._label()}: its commands are no `typer.Typer`")
        return commands

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


@cache
def switched_on(names_off: str) -> "Mapping[str, Extension[Any]]":
    """The extensions but those that are switched off, by name.

    names_off: the setting `extensions_off`. Raises `CommandError` if it names none that is
    installed, or if another one can't be loaded.
    """
    off = listed(names_off)
    for name in off:
        if name not in found():
            raise CommandError(
                f"NEARHIT_EXTENSIONS_OFF: {name} is no extension; there are {', '.join(found())}"
            )
    return {name: extension.load() for name, extension in found().items() if name not in off}


@cache
def formats(names_off: str) -> Formats:
    """All formats that files may have; those of an extension that is off refuse them.

    names_off: as of `switched_on`. Raises `CommandError` if two extensions that are on read files
    of one suffix, or if the formats of one can't be loaded.
    """
    return _combined(
        names_off, TEXT_FORMATS, lambda found: by_suffix(found.load_rows("formats", Format))
    )


@cache
def path_kinds(names_off: str) -> "Mapping[str, PathKind]":
    """The kinds of sources that a path may be, but a folder, by name; as `formats` has formats."""
    from ingest.sources.kinds import PathKind

    return _combined(
        names_off,
        {},
        lambda found: {kind.name: kind for kind in found.load_rows("path_kinds", PathKind)},
    )


@cache
def search_fields_off(names_off: str) -> Mapping[str, str]:
    """The fields of searches that no extension serves, each with the name of one that would.

    names_off: as of `switched_on`.
    """
    off, fields_off, served = listed(names_off), dict[str, str](), set[str]()
    for name, extension in found().items():
        if name not in off:
            served.update(extension.load_rows("search_fields", str))
            continue
        with suppress(CommandError):  # it may be off because it can't be loaded
            fields_off |= dict.fromkeys(extension.load_rows("search_fields", str), name)
    return {field: name for field, name in fields_off.items() if field not in served}


def _combined(
    names_off: str, core: Mapping[str, Row], load: Callable[[FoundExtension], Mapping[str, Row]]
) -> dict[str, Row]:
    off, refused, read = listed(names_off), dict[str, Row](), dict(core)
    for name, extension in found().items():
        if name in off:
            with suppress(CommandError):  # it may be off because it can't be loaded
                missing = f"is read by the extension {name}, which is off"
                for key, row in load(extension).items():
                    refused[key] = replace(row, missing=missing)
            continue
        for key, row in load(extension).items():
            if read.setdefault(key, row) is not row:
                raise CommandError(f"extension {name}: {key} is read already")
    return refused | read


@asynccontextmanager
async def opened(
    extensions: "Mapping[str, Extension[Any]]",
    services: "Services",
    own: "Mapping[str, BaseModel]",
) -> AsyncIterator[Sequence[Callable[[asyncio.Event], Coroutine[None, None, None]]]]:
    """What extensions run beside jobs; what their handlers use is added to the services.

    own: the settings of each.
    """
    async with AsyncExitStack() as stack:
        beside = []
        for name, extension in extensions.items():
            used = await stack.enter_async_context(extension.open(services, own[name]))
            services.extensions[name] = used
            for method, row in extension.mcp_methods.items():
                services.mcp_methods[method] = (row, used)
            for tool_name, tool in extension.mcp_tools.items():
                services.mcp_tools[tool_name] = (tool, used)
            if extension.work is not None:
                beside.append(partial(extension.work, used))
        yield beside


def source_body(extensions: "Mapping[str, Extension[Any]]") -> "type[BaseModel]":
    """The configuration of a source, of the core's kind or of these extensions' kinds.

    Raises `CommandError` if two kinds have one name.
    """
    from gateway.sources import source_schemas
    from ingest.sources.kinds import FOLDER

    path_kinds = [kind.name for each in extensions.values() for kind in each.path_kinds]
    bodies = [kind.body for each in extensions.values() for kind in each.source_kinds]
    kinds = [FOLDER, *path_kinds, *chain.from_iterable(map(source_schemas.kinds_of, bodies))]
    if len(set(kinds)) < len(kinds):
        raise CommandError(f"two extensions read sources of one kind: {', '.join(kinds)}")
    return source_schemas.body_of(*bodies, path_kinds=tuple(path_kinds))


def add_source_kinds(
    services: "Services",
    extensions: "Mapping[str, Extension[Any]]",
    own: "Mapping[str, BaseModel]",
    formats: Formats,
) -> None:
    """What reads sources reads those of the extensions' kinds too.

    own: the settings of each. formats: of the files of sources.
    """
    kinds = services.sources.kinds
    kinds.formats = formats
    for name, extension in extensions.items():
        for path_kind in extension.path_kinds:
            kinds.add_path_kind(path_kind)
        for kind in extension.source_kinds:
            kinds.add(kind.body, kind.reader(services, own[name]))


def with_metrics(metrics: "Metrics") -> "Metrics":
    """The metrics with those of all extensions, for the reference."""
    for extension in switched_on("").values():
        if extension.metrics is not None:
            extension.metrics(metrics.registry)
    return metrics


def _own() -> Iterator[FoundExtension]:
    for folder in pkgutil.iter_modules(extensions.__path__):
        if not folder.name.startswith("_"):
            name = folder.name.removesuffix("_")  # of a keyword, which no statement could import
            yield FoundExtension(name, f"nearhit {VERSION}", partial(_import, folder.name))


def _import(folder: str, module: str) -> Any:
    path = f"{extensions.__name__}.{folder}.{module}"
    if importlib.util.find_spec(path) is None:
        return None
    return getattr(importlib.import_module(path), _HOLDS[module])


def _of_others() -> Iterator[FoundExtension]:
    for point in metadata.entry_points(group=_GROUPS["extension"]):
        origin = "an unknown distribution"
        if point.dist is not None:
            origin = f"{point.dist.name} {point.dist.version}"
        yield FoundExtension(point.name, origin, partial(_load, point.name))


def _load(name: str, module: str) -> Any:
    (point,) = metadata.entry_points(group=_GROUPS[module], name=name) or (None,)
    return point and point.load()
