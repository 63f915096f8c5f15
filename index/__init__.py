"""The index: which chunks answer this best, among those that the caller may see."""
