"""Three regions on one machine, whose links delay, and can be cut off."""
