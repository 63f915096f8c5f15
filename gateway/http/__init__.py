"""HTTP: what one request passes before and after its handler."""
