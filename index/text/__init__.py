"""Texts as words: tokens, the lexical score, spelling and the vocabulary of a tenant."""
