"""PostgreSQL and Valkey as Nearhit starts them for itself, and the process that supervises them."""
