"""How often words occur in a language at large, in files that processes map."""
