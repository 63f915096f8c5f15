"""Evaluation: the operator measures a running gateway's answers against known ones."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension("a command measures answers against known ones")
