"""Commands that create, list and delete tenants, and end what is cached for them."""
