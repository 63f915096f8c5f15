"""More than one gateway behind a balancer, on one PostgreSQL and one Redis."""
