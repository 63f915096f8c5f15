"""`python -m gateway` is the `nearhit` command; installed, `python -m nearhit` is."""

from gateway.cli.main import app

if __name__ == "__main__":
    app()
