"""Where settings come from besides the environment: files of secrets, and a TOML file.

A variable of the environment wins over a file of a secret, which wins over the TOML file.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from gateway.errors import CommandError

PREFIX = "NEARHIT_"
CONFIG = "NEARHIT_CONFIG"
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


def config_of(fields: Mapping[str, FieldInfo], environ: Mapping[str, str]) -> dict[str, Any]:
    """The settings in the TOML file that `NEARHIT_CONFIG` names, by name in small letters.

    Raises `CommandError` if it can't be read, or has a key that is no setting.
    """
    path = environ.get(CONFIG)
    if not path:
        return {}
    try:
        values = tomllib.loads(_read(Path(path), CONFIG))
    except tomllib.TOMLDecodeError as error:
        raise CommandError(f"{path} is no TOML file: {error}") from None
    for name in values:
        if name not in fields:
            raise CommandError(f"{path}: {unknown(name, fields)}")
    return values


def unknown_variables(fields: Mapping[str, FieldInfo], environ: Mapping[str, str]) -> list[str]:
    """One sentence for each variable with the prefix that is no setting."""
    return list(_unknown_variables(fields, environ))


def origins(fields: Mapping[str, FieldInfo], environ: Mapping[str, str]) -> dict[str, str]:
    """Where each setting that is not the default comes from: a variable, or the TOML file."""
    in_file = dict.fromkeys(config_of(fields, environ), environ.get(CONFIG, ""))
    files = {name: variable(name) + _FILE for name in secrets_of(fields, environ)}
    variables = {name: variable(name) for name in fields if environ.get(variable(name))}
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


def _unknown_variables(
    fields: Mapping[str, FieldInfo], environ: Mapping[str, str]
) -> Iterator[str]:
    known = {*map(variable, fields)}
    files = {variable(name) + _FILE for name in secret_names(fields)}
    for name in sorted(environ):
        rest = name.removeprefix(PREFIX)
        if rest == name or name in known or name in files or rest in _NO_SETTINGS:
            continue
        if _SERVICE_LINK.fullmatch(rest) is None:
            yield unknown(name, known)


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
