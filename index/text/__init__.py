"""Texts as words: tokens, the lexical score, spelling."""
