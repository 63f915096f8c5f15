"""The API: the table of routes and the application that is made of it."""
