"""What the settings say of RabbitMQ is checked before anything connects to it."""

import asyncio

import pytest
from pydantic import ValidationError

from common.command_errors import CommandError
from gateway.cli import operations
from gateway.extensions.rabbitmq.rabbitmq_settings import RabbitmqSettings
from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from tests.gateway.support.commands import refused

pytestmark = pytest.mark.anyio

URL, QUEUES = "NEARHIT_RABBITMQ_URL", "NEARHIT_RABBITMQ_QUEUES"
_AMQP = "amqp://user:hush@127.0.0.1:1/"


def test_the_settings_say_whose_a_queue_is() -> None:
    made = RabbitmqSettings(queues="wiki=acme, a=b=beta,")

    assert made.tenants() == {"wiki": "acme", "a=b": "beta"}


@pytest.mark.parametrize("text", ["wiki", "wiki=", "=acme", "wiki=acme,wiki=beta"])
def test_a_queue_that_is_nobodys_or_two_tenants_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="queues"):
        RabbitmqSettings(queues=text)


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({URL: _AMQP}, "NEARHIT_RABBITMQ_QUEUES must list the queues"),
        ({URL: "http://x", QUEUES: "wiki=acme"}, "must begin with amqp://"),
    ],
)
async def test_settings_that_can_do_nothing_are_refused_at_the_start(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], reason: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(CommandError, match=reason) as complaint:
        await operations.run_worker(settings, 1.0, Metrics(), asyncio.Event())

    assert "hush" not in str(complaint.value)


async def test_dead_letters_need_a_server_and_one_of_its_queues() -> None:
    nowhere = await refused({}, "dead-letters", "list")
    other = await refused(
        {URL: _AMQP, QUEUES: "wiki=acme"}, *("dead-letters", "replay", "--queue", "other")
    )

    assert "NEARHIT_RABBITMQ_URL must name the RabbitMQ" in nowhere
    assert "other is no queue of NEARHIT_RABBITMQ_QUEUES" in other
