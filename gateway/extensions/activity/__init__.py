"""What admins and the operator see of searches, costs, processes, and who read what."""
