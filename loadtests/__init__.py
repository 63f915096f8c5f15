"""Load tests and benchmarks: they use the service over HTTP.

A module that imports some of Nearhit's own code says in its first sentence what of it it uses.

load       the generator: schedules, connections, latencies
workload   the questions of each caller, the writes, and the rights to read them
loadtest   what `nearhit loadtest` runs: tenants set up, requests sent when due, answers judged
users      the same environment, judge and report for Locust's users, which wait for their answers
servers    the servers under test, as processes
bench      the frame that all benchmarks share; each `bench_…` is one benchmark
mutants    rules that are broken on purpose, which the soak and bench_edges have to find
soak       histories of writes and rights under load, with every answer audited
"""
