"""PostgreSQL and Valkey that Nearhit starts itself, and the process that supervises them."""
