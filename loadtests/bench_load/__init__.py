"""What load the gateway bears, open loop, with everything on one machine."""
