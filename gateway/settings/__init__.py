"""The settings: their groups, where they come from, and how they are reported."""
