"""Reorders hits: by a service, a language model, or the heuristic."""
