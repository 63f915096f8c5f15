"""What a query may hold beside its words and its filter."""
