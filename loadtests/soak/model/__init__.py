"""What the soak knows: who may read what when, which credentials work, what was acknowledged."""
