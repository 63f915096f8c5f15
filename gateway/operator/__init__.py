"""The operator's commands, which work directly on PostgreSQL and Redis without a gateway."""
