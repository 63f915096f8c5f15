"""`python -m gateway` is the `nearhit` command."""

from gateway.command import app

app()
