"""The benchmark of ingestion: an edit embeds only changed chunks, and the speed of reading."""
