"""Answers of low confidence: thresholds, query gates, and the questions that wait for an admin."""
