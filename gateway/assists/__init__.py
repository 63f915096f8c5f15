"""What stands around retrieval; nothing in here is loaded before somebody asks for it."""
