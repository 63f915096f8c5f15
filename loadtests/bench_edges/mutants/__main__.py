"""Nearhit's command with one rule broken: python -m loadtests.bench_edges.mutants NAME serve …"""

import runpy
import sys

from loadtests.bench_edges.mutants.rules import MUTANTS

if __name__ == "__main__":
    name = sys.argv.pop(1)
    MUTANTS[name].replace()
    runpy.run_module("gateway", run_name="__main__", alter_sys=False)
