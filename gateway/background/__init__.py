"""What goes on beside requests: counts are stored, readings repeated, a worker warmed up."""
