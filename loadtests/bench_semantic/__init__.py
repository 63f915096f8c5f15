"""How often a similar question's answer is the answer, and how well that is foreseen."""
