"""PostgreSQL and Valkey that Nearhit starts where the settings name no servers, and the demo."""
