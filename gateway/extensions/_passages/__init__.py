"""What several extensions use to show texts within a limit: passages of hits, and excerpts."""
