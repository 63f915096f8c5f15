"""The frame of all benchmarks: arguments, sections, targets and the page that they write."""
