"""How requests arrive: connections, heads, bodies, clients' addresses, the order of checks."""
