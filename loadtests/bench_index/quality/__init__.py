"""How good the answers are, over HTTP: of questions and passages of each kind."""
