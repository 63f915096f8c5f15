"""What several extensions use to speak the Model Context Protocol: results, arguments, schemas."""
