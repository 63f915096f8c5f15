"""Redis Cluster: each call goes to the node that owns the slot of its key."""
