"""Clients check what a tool answers by its schema, as `jsonschema` does."""

import sys
from types import ModuleType

# With this package `jsonschema` compiles the grammar of IRIs when it is imported, which takes ten
# times as long as all else of it. An empty one is to it as one that is not installed.
sys.modules.setdefault("rfc3987_syntax", ModuleType("rfc3987_syntax"))
