"""The `nearhit` command."""
