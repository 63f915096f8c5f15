"""The Model Context Protocol over HTTP and stdio: tools, and answers as resources."""
