"""Nearhit's command with one rule broken: python -m loadtests.soak.mutants NAME serve --port 0"""

import runpy
import sys

from loadtests.soak.mutants.rules import MUTANTS

if __name__ == "__main__":
    name = sys.argv.pop(1)
    MUTANTS[name].replace()
    runpy.run_module("gateway", run_name="__main__", alter_sys=False)
