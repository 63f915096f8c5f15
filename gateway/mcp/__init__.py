"""The Model Context Protocol: its tools search, fetch and list_sources over HTTP and stdio."""
