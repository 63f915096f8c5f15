"""The audit log at rest, its hash chain, and the schedule of index audits."""
