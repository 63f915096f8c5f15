"""Load tests: the operator loads a deployment and checks what it answers against a budget."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension("a command loads a deployment and judges it by a budget")
