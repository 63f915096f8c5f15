"""Reorders hits: by a service, a language model, their words, or the heuristic."""
