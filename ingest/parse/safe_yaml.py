"""Loads untrusted YAML safely, in time that its length bounds."""

from typing import Any

import yaml

DEPTH_MAX = 8  # front matter needs 2, a list of questions 3

_OPENING = (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)


class NotYaml(ValueError):
    """line: counted from 1; None if unknown."""

    def __init__(self, problem: str, line: int | None) -> None:
        super().__init__(problem)
        self.line = line


def load(source: str) -> Any:
    """The value of the YAML. Raises `NotYaml`."""
    try:
        _refuse_costly(source)
        return yaml.safe_load(source)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise NotYaml(str(error.problem), line) from error
    except Exception as error:  # PyYAML also raises KeyError, AttributeError and others
        raise NotYaml(str(error), None) from error


def _refuse_costly(source: str) -> None:
    """PyYAML's time doubles with each alias of merged aliases, and is quadratic in the depth."""
    depth = 0
    for token in yaml.scan(source):
        depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        if isinstance(token, yaml.AliasToken) or depth > DEPTH_MAX:
            problem = "aliases and deep nesting are not allowed"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=token.start_mark)
