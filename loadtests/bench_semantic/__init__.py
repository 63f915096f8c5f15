"""How often the answer of a similar question is right, and how well that is predicted."""
