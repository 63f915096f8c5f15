"""The servers under test as processes of their own: started, measured, paused, killed."""
