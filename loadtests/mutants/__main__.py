"""Nearhit's command with one rule broken: python -m loadtests.mutants FAMILY NAME serve --port 0

FAMILY is `cache` or `lease`.
"""

import runpy
import sys

from loadtests.mutants import rules

if __name__ == "__main__":
    family, name = sys.argv[1:3]
    del sys.argv[1:3]
    {"cache": rules.CACHE, "lease": rules.LEASE}[family][name].break_rules()
    runpy.run_module("gateway", run_name="__main__", alter_sys=False)
