"""Where settings come from besides the environment: files of secrets, and a TOML file.

A variable of the environment wins over a file of a secret, which wins over the TOML file.
"""

import difflib
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from common.command_errors import CommandError

PREFIX = "NEARHIT_"
CONFIG = "NEARHIT_CONFIG"
_EXTENSIONS = "extensions"  # the table of the TOML file that has a table for each extension
_FILE = "_FILE"
_FILE_BYTES_MAX = 1_048_576
# Of commands that talk to a gateway, of load tests, and of a process to its children.
_NO_SETTINGS = frozenset(
    ("CONFIG", "KEY", "URL", "LOADTEST_KEY", "LOADTEST_ADMIN_KEY", "LOAD_PLAN", "SUPERVISOR_PID")
)
# Kubernetes gives such variables to each container beside a service named `nearhit`.
_SERVICE_LINK = re.compile(r"SERVICE_(HOST|PORT\w*)|PORT_\d+_(TCP|UDP)\w*")


def secrets_of(fields: Mapping[str, FieldInfo], environ: Mapping[str, str]) -> dict[str, str]:
    """The secrets whose file a variable names: `NEARHIT_ADMIN_KEY_FILE` holds `admin_key`.

    White space around a secret is no part of it. Raises `CommandError` if a file can't be read, or
    if the secret has a variable too.
    """
    return {
        name: _read(Path(path), variable(name) + _FILE).strip()
        for name in secret_names(fields)
        if (path := environ.get(variable(name) + _FILE)) and _has_one(name, environ)
    }


def variables_of(fields: Mapping[str, FieldInfo], environ: Mapping[str, str]) -> dict[str, str]:
    """The settings whose variables are set, and not to an empty text."""
    return {name: value for name in fields if (value := environ.get(variable(name)))}


def config_of(
    fields: Mapping[str, FieldInfo], environ: Mapping[str, str], extension: str | None = None
) -> dict[str, Any]:
    """The settings in the TOML file that `NEARHIT_CONFIG` names, by name in small letters.

    extension: whose table is read, `[extensions.NAME]`; None: what stands outside of these.
    Raises `CommandError` if it can't be read, or has a key that is no setting.
    """
    values, tables = _config(environ)
    if extension is not None:
        table = tables.get(extension, {})
        values = {f"{extension}_{name}": value for name, value in table.items()}
    for name in values:
        if name not in fields:
            raise CommandError(f"{environ[CONFIG]}: {unknown(name, fields)}")
    return values


def extension_tables(environ: Mapping[str, str]) -> Collection[str]:
    """The extensions that have a table in the TOML file."""
    return _config(environ)[1].keys()


def text_of(name: str, environ: Mapping[str, str]) -> str:
    """A setting of the core before it is checked; empty if it is not set. Raises `CommandError`."""
    return environ.get(variable(name)) or str(_config(environ)[0].get(name, ""))


def unknown_variables(
    fields: Mapping[str, FieldInfo], environ: Mapping[str, str], off: Collection[str] = ()
) -> list[str]:
    """One sentence for each variable with the prefix that is no setting.

    off: extensions that are switched off, whose settings nobody knows.
    """
    known = {*map(variable, fields)}
    return [
        unknown(name, known)
        for name in _other_variables(fields, environ)
        if owner(name, off) is None
    ]


def unused_variables(
    fields: Mapping[str, FieldInfo], environ: Mapping[str, str], off: Collection[str]
) -> dict[str, str]:
    """The extension of each variable that belongs to one that is switched off."""
    names = _other_variables(fields, environ)
    return {name: extension for name in names if (extension := owner(name, off)) is not None}


def owner(name: str, extensions: Iterable[str]) -> str | None:
    """The extension whose prefix a variable has."""
    return next((each for each in extensions if name.startswith(f"{variable(each)}_")), None)


def origins(
    fields: Mapping[str, FieldInfo], environ: Mapping[str, str], extension: str | None = None
) -> dict[str, str]:
    """Where each setting that is not the default comes from: a variable, or the TOML file."""
    in_file = dict.fromkeys(config_of(fields, environ, extension), environ.get(CONFIG, ""))
    files = {name: variable(name) + _FILE for name in secrets_of(fields, environ)}
    variables = {name: variable(name) for name in variables_of(fields, environ)}
    return in_file | files | variables


def replace(environ: MutableMapping[str, str], variables: Mapping[str, str]) -> None:
    """Set variables, and remove those that name files of the same secrets."""
    for name, value in variables.items():
        environ[name] = value
        environ.pop(name + _FILE, None)


def variable(name: str) -> str:
    return PREFIX + name.upper()


def secret_names(fields: Mapping[str, FieldInfo]) -> list[str]:
    return [
        name
        for name, field in fields.items()
        if field.annotation is SecretStr or SecretStr in get_args(field.annotation)
    ]


def unknown(name: str, known: Iterable[str]) -> str:
    """That a name is no setting, and which one is most like it."""
    similar = difflib.get_close_matches(name, list(known), n=1)
    return f"{name} is no setting" + (f"; did you mean {similar[0]}?" if similar else "")


def _config(environ: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """What the TOML file has outside the tables of extensions, and these tables."""
    path = environ.get(CONFIG)
    if not path:
        return {}, {}
    try:
        values = tomllib.loads(_read(Path(path), CONFIG))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CommandError(f"{path} is no TOML file: {error}") from None
    tables = values.pop(_EXTENSIONS, {})
    if not isinstance(tables, dict) or not all(isinstance(each, dict) for each in tables.values()):
        raise CommandError(f"{path}: {_EXTENSIONS} must have a table for each extension")
    return values, tables


def _other_variables(fields: Mapping[str, FieldInfo], environ: Mapping[str, str]) -> Iterator[str]:
    """Variables with the prefix that are none of these settings, and no other ones of ours."""
    known = {*map(variable, fields)}
    files = {variable(name) + _FILE for name in secret_names(fields)}
    for name in sorted(environ):
        rest = name.removeprefix(PREFIX)
        if rest == name or name in known or name in files or rest in _NO_SETTINGS:
            continue
        if _SERVICE_LINK.fullmatch(rest) is None:
            yield name


def _has_one(name: str, environ: Mapping[str, str]) -> bool:
    if environ.get(variable(name)):
        raise CommandError(f"set {variable(name)} or {variable(name)}{_FILE}, not both")
    return True


def _read(path: Path, named_by: str) -> str:
    try:
        with path.open("rb") as file:  # a device or a pipe has no size that could be asked for
            content = file.read(_FILE_BYTES_MAX + 1)
        if len(content) > _FILE_BYTES_MAX:
            raise CommandError(f"{named_by}: {path} has more than {_FILE_BYTES_MAX:,} bytes")
        return content.decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise CommandError(f"{named_by}: can't read {path}: {reason}") from None
