"""The functions that searches call, and the database roles that may call nothing else."""
