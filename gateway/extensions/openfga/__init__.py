"""Relation tuples of an OpenFGA store, read as memberships and readers."""
