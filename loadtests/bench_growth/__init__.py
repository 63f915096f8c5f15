"""The cost of a request, and memory, as chunks, tenants, live answers and writers grow."""
