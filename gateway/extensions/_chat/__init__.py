"""What several extensions use to ask a language model: its client, budgets, prompts, and quotes."""
