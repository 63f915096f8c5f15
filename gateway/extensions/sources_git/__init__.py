"""Sources of repositories on other hosts, which a worker clones."""
