"""Events from other systems: what each says, and how it is applied once."""
