"""What a request costs, and memory, as chunks, tenants, live entries and writers grow."""
