"""Loads untrusted YAML safely, in time that its length bounds.

Scalars stay as they are written, but for the plain numbers and words of JSON: YAML 1.1 makes a
number of 12:30:45 and of 0123, and `false` of `no`. A number whose digits would change, such as
1.10, is text.
"""

import re
from collections.abc import Hashable
from typing import Any

import yaml

from index.model.document import METADATA_INTEGER_MAX

DEPTH_MAX = 8  # front matter needs 2, a list of questions 3

_OPENING = (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)
_WORDS = {"true": True, "false": False}
_TAG = "tag:yaml.org,2002:"


class NotYaml(ValueError):
    """line: counted from 1; None if unknown."""

    def __init__(self, problem: str, line: int | None) -> None:
        super().__init__(problem)
        self.line = line


def load(source: str) -> Any:
    """The value of the YAML; all keys are text. Raises `NotYaml`."""
    try:
        _refuse_costly(source)
        return yaml.load(source, _Loader)  # noqa: S506  it makes text, numbers, lists and mappings
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise NotYaml(str(error.problem), line) from error
    except Exception as error:  # PyYAML also raises KeyError, AttributeError and others
        raise NotYaml(str(error), None) from error


def number(text: str) -> int | float | str:
    """The number, if it is written as JSON writes it again; else the text."""
    try:
        value = float(text) if "." in text else int(text)
    except ValueError:  # TOML's inf and 1e5
        return text
    is_exact = isinstance(value, float) or abs(value) <= METADATA_INTEGER_MAX
    return value if is_exact and str(value) == text else text


def _refuse_costly(source: str) -> None:
    """PyYAML's time doubles with each alias of merged aliases, and is quadratic in the depth."""
    depth = 0
    for token in yaml.scan(source):
        depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        if isinstance(token, yaml.AliasToken) or depth > DEPTH_MAX:
            problem = "aliases and deep nesting are not allowed"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=token.start_mark)


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}  # noqa: RUF012  those of YAML 1.1
    yaml_constructors = {}  # noqa: RUF012

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, ARG002  as PyYAML has it
        mapping: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if not isinstance(key, str) or key in mapping:
                problem = f"{key!r} is there twice" if isinstance(key, str) else "a key is no text"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key_node.start_mark)
            mapping[key] = self.construct_object(value_node, deep=True)
        return mapping


def _scalar(loader: _Loader, node: yaml.ScalarNode) -> str:
    return loader.construct_scalar(node)


def _sequence(loader: _Loader, node: yaml.SequenceNode) -> list[Any]:
    return loader.construct_sequence(node, deep=True)


_Loader.add_implicit_resolver(f"{_TAG}bool", re.compile("true$|false$"), ["t", "f"])
_Loader.add_implicit_resolver(f"{_TAG}null", re.compile("$|null$"), ["", "n"])
_Loader.add_implicit_resolver(
    f"{_TAG}float", re.compile(r"-?[0-9]+(\.[0-9]+)?$"), list("-0123456789")
)
_Loader.add_constructor(f"{_TAG}str", _scalar)
_Loader.add_constructor(f"{_TAG}bool", lambda _, node: _WORDS.get(node.value, node.value))
_Loader.add_constructor(f"{_TAG}null", lambda *_: None)
_Loader.add_constructor(f"{_TAG}float", lambda _, node: number(node.value))
_Loader.add_constructor(f"{_TAG}seq", _sequence)
_Loader.add_constructor(f"{_TAG}map", _Loader.construct_mapping)
