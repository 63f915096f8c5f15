"""PostgreSQL under test: its programs, a process that can be killed, and ways to connect."""
