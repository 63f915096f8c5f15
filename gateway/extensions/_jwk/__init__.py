"""What several extensions use of JSON Web Keys: their thumbprints."""
