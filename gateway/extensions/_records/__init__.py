"""What several extensions use to make documents of rows, lines, and questions with answers."""
