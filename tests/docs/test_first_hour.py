"""A stranger's first hour: each line of these pages does what it says, in a new checkout.

A page's own words are kept; its port, its folders and the placeholder `…` are those of the test.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from urllib.parse import urlsplit, urlunsplit

import pytest

from gateway.extensions.backup import postgres_programs
from gateway.extensions.embedded_servers import owned_servers
from gateway.extensions.embedded_servers.owned_servers import Servers
from tests.conftest import data_dir, named
from tests.docs import pasted
from tests.docs.checkout import FIRST_HOUR, Checkout, checked_out, lines_of, outside
from tests.docs.named_tests import ROOT
from tests.system_programs import needs

pytestmark = [pytest.mark.anyio, pytest.mark.slow, needs("curl"), needs("openssl")]

README, CONTRIBUTING, TUTORIAL, RUN = FIRST_HOUR
# Of CONTRIBUTING; all lines of the other pages are run.
_NOT_RUN = {
    "uvx pre-commit install": "it fetches a package, which changes the checkout",
    "make demo": "the README's test runs it, in a new checkout",
}
_LOGIN = "gateway"  # in run.md it is `nearhit`, as the superuser of the test's server is called


@pytest.fixture(scope="module")
def checkout() -> Iterator[Checkout]:
    with checked_out() as made:
        yield made


async def test_readme(checkout: Checkout) -> None:
    """With the key that `make run` prints, where no terminal is."""
    key = f'$(sed -n "s/.*Bearer \\(.*\\)\'.*/\\1/p" {checkout.machine}/told)'

    ended = await checkout.with_words({"…": key}).follow(lines_of(README))

    assert ended.status == 0, ended.err
    assert '{"hits":[{"chunk_id":' in ended.out  # with curl
    assert " handbook/people/annual-leave.md: " in ended.out  # and from Python
    assert max(map(len, ended.out.partition("Next steps")[0].splitlines())) <= 100


async def test_tutorial(checkout: Checkout) -> None:
    words = {"/tmp/nearhit-tutorial": str(checkout.machine / "tutorial")}  # noqa: S108  the page's
    told = checkout.machine / "told"
    told.unlink(missing_ok=True)

    ended = await checkout.with_words(words).follow(lines_of(TUTORIAL))

    assert ended.status == 0, ended.err
    for block in pasted.blocks_of(TUTORIAL):
        if block.language in ("text", "json"):
            assert block.text.rstrip("\n") in ended.out
    assert ended.out.lower().count("cache-status") == 2
    assert "handbook/leave" in ended.out.partition("tools: ")[2]
    assert "nh_" not in told.read_text(encoding="utf-8")  # a key is shown on a terminal alone


async def test_contributing(tmp_path: Path) -> None:
    """In this checkout, whose environment is what the page makes."""
    lines = lines_of(CONTRIBUTING)
    failed = tmp_path / "v" / "cache" / "lastfailed"
    failed.parent.mkdir(parents=True)
    failed.write_text('{"tests/test_readme.py::test_the_readme_is_short": true}')
    variables = outside() | {"PYTEST_ADDOPTS": f"-o cache_dir={tmp_path}"}

    ended = await Checkout(ROOT, tmp_path, variables, {}).follow(
        [line for line in lines if not line.startswith(tuple(_NOT_RUN))]
    )

    assert ended.status == 0, ended.err + ended.out
    assert ended.out.count(" passed") == 3
    assert all(any(line.startswith(each) for line in lines) for each in _NOT_RUN)


@pytest.fixture
def new_servers() -> Iterator[Servers]:
    """A server without the roles that other tests make."""
    with data_dir() as folder, owned_servers.own_servers(folder) as started:
        yield started


async def test_run(checkout: Checkout, new_servers: Servers) -> None:
    """From the administrator's SQL to the login's gateway and worker, and the systemd units."""
    url = urlsplit(named(new_servers.database_url, _LOGIN))
    words = {
        "postgresql://nearhit:SECRET@db:5432/nearhit": quote(
            urlunsplit(url._replace(netloc=f"{_LOGIN}:SECRET@"))
        ),
        "redis://cache:6379/0": quote(new_servers.redis_url),
        "…": "the-operators-key-of-this-test",
        "--workers 4": "--workers 1",
        "/opt/nearhit": '"$ENVIRONMENT"',
        " /etc/": f" {checkout.machine}/etc/",
    }
    psql = postgres_programs.program("psql")
    lines = [as_login(line) for line in lines_of(RUN)]
    lines.sort(key=lambda line: "/opt/nearhit" not in line)  # the installation that others run
    lines.insert(0, f"PSQL={psql} ADMINISTRATOR={quote(new_servers.database_url)}")

    ended = await checkout.with_words(words).follow(lines)

    assert ended.status == 0, ended.err
    assert "PostgreSQL answers, and its schema is up to date" in ended.out
    assert "43 documents (0 unchanged)" in ended.out


def as_login(line: str) -> str:
    """The page's statements for the test's login."""
    is_sql = line.startswith("sudo -u postgres psql")
    return re.sub(r"\bnearhit\b", _LOGIN, line) if is_sql else line
