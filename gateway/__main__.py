"""`python -m gateway` is the `nearhit` command."""

from gateway.cli.main import app

app()
