"""Measures how well a running gateway answers, by questions whose right answers are known."""
