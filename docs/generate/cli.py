"""docs/reference/cli.md: every command with its arguments and options."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import typer

from docs.generate.markdown import NOTE, code, join, table
from gateway.cli.main import app

_NAMES = {str: "text", int: "integer", float: "number", Path: "path"}


def page() -> str:
    root: Any = typer.main.get_command(app)
    root.add_extensions()
    return join(
        "# Command line",
        NOTE.format(source="the `nearhit` command"),
        str(root.help),
        *_commands("nearhit", root),
    )


def _commands(path: str, command: Any) -> Iterator[str]:
    """Each command and group below `command`, in the order of their names."""
    for name, below in sorted(command.commands.items()):
        if below.hidden:
            continue
        yield _section(f"{path} {name}", below)
        if hasattr(below, "commands"):
            yield from _commands(f"{path} {name}", below)


def _section(path: str, command: Any) -> str:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option"]
    return join(
        f"## {path}",
        _usage(path, command, arguments, has_options=bool(options)),
        str(command.help),
        table(("argument", "type", "what"), map(_argument, arguments)),
        table(("option", "type", "default", "what"), map(_option, options)),
    ).strip()


def _usage(path: str, command: Any, arguments: list[Any], *, has_options: bool) -> str:
    words = [path, *(["[OPTIONS]"] if has_options else []), *map(_metavar, arguments)]
    if hasattr(command, "commands"):
        words.append("[COMMAND]" if command.invoke_without_command else "COMMAND")
    return f"```text\n{' '.join(words)}\n```"


def _metavar(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    if argument.nargs == -1 and not name.endswith("…"):
        name += "…"
    return name if argument.required else f"[{name}]"


def _argument(argument: Any) -> tuple[str, str, str]:
    return code(argument.metavar or argument.name.upper()), _type(argument), argument.help or ""


def _option(option: Any) -> tuple[str, str, str, str]:
    names = ", ".join(map(code, (*option.opts, *option.secondary_opts)))
    if option.required:
        default = "required"
    elif option.is_flag or option.default is None:
        default = ""
    else:
        default = code(option.default)
    return names, _type(option), default, option.help or ""


def _type(parameter: Any) -> str:
    if getattr(parameter, "is_flag", False):
        return "flag"
    name = _type_name(parameter.type_descriptor.annotation)
    low, high = parameter.min, parameter.max
    if low is not None:
        name += f", {low} or more" if high is None else f", {low} to {high}"
    if parameter.nargs == -1 or getattr(parameter, "multiple", False):
        name += "; repeatable"
    return name


def _type_name(annotation: Any) -> str:
    values = get_args(annotation)
    if get_origin(annotation) is list:
        return _type_name(values[0])
    if values and all(isinstance(value, str) for value in values):
        return ", ".join(map(code, values))
    return _NAMES.get(annotation, getattr(annotation, "__name__", str(annotation)))
