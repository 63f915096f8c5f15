"""Puts candidates in order: fusion of the legs, boosts, diversity."""
