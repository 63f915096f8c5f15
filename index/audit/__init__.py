"""The stored audit log, its hash chain, and the schedule of index audits."""
