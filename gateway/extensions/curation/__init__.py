"""Low-confidence answers: minimum scores, query gates, and questions for an admin."""
