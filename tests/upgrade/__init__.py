"""An index as an earlier schema holds it, and what a gateway answered from it."""
