"""The gateway: who asks, what may they read, in what form do they want it."""
