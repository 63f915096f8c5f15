"""The table of routes, and the routes of each subject that it joins."""
