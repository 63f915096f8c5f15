"""Cuts: the ways to part a document's text into chunks, each a pure function but the model's."""
