"""The floor below `cache` and `index`: what both need, and what knows neither of them."""
