"""Load tests and benchmarks: they use the service over HTTP.

A module that imports some of Nearhit's own code says in its first sentence what of it it uses.

load       the generator: schedules, connections, latencies
workload   the questions of each caller, the writes, and the rights to read them
loadtest   what `nearhit loadtest` runs: tenants set up, requests sent when due, answers judged
users      the same environment, judge and report for Locust's users, which wait for their answers
servers    the servers under test, as processes
bench      the frame that all benchmarks share: `python -m loadtests` has a table of them
scenarios  servers under load, growth, faults and scale; bench_index, bench_peers and bench_edges
           measure the index, others beside Nearhit, and regions
mutants    rules that are broken on purpose, which the soak and bench_edges have to find
soak       histories of writes and rights under load, with every answer audited
"""
