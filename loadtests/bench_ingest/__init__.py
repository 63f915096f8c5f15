"""The benchmark of ingestion: only the change is paid for, and how fast it is paid."""
