"""`nearhit backup` and `nearhit restore`."""
