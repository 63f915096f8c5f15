"""The load that one gateway bears, open loop, with everything on one machine."""
