"""A thin client of Nearhit: `Client` and `AsyncClient` have a method for each call of the API."""

from nearhit_client.client import AsyncClient, Client
from nearhit_client.errors import NearhitError
from nearhit_client.events import Event
from nearhit_client.retries import Retries

__all__ = ["AsyncClient", "Client", "Event", "NearhitError", "Retries"]
