"""Commands on receipts.

`nearhit verify` checks one without a gateway, a database or a network; `nearhit replay` asks a
gateway for the answer of its revision.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from common.command_errors import CommandError
from gateway.cli import common
from gateway.cli.common import AsJson, console

if TYPE_CHECKING:  # slow to import, and `--help` does not need it
    from collections.abc import Mapping

    import httpx2

    from gateway.extensions.receipts.receipt import Statement

COMMANDS = typer.Typer()

_CALL_S = 60.0


@COMMANDS.command(rich_help_panel="Operation")
def verify(
    receipt: Annotated[
        Path, typer.Argument(help="File with the header Nearhit-Receipt; - for standard input.")
    ],
    keys: Annotated[
        Path, typer.Option(help="File with the response of GET /v1/receipts/keys.", dir_okay=False)
    ],
    answer: Annotated[
        Path | None, typer.Option(help="File with the body of the response.", dir_okay=False)
    ] = None,
    request: Annotated[
        Path | None, typer.Option(help="File with the body of the request.", dir_okay=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify the receipt of an answer, and show what it states.

    Exits with 1 if the signature is not by one of the keys, or the answer or the request is another
    one. Get the keys from a source that you trust, and keep them: the command asks nobody.

        nearhit verify receipt.txt --keys keys.json --answer answer.json
    """
    with common.errors():
        statement = _verified(receipt, _read(keys), request, answer)
    if as_json:
        common.print_json(statement.model_dump())
        return
    for name, value in _lines(statement):
        console.print(f"{name}: {value}", markup=False, soft_wrap=True)
    compared = [name for name, file in (("answer", answer), ("request", request)) if file]
    console.print(f"valid; compared with the {' and the '.join(compared) or 'keys alone'}")


@COMMANDS.command(rich_help_panel="Operation")
def replay(
    receipt: Annotated[
        Path, typer.Argument(help="File with the header Nearhit-Receipt; - for standard input.")
    ],
    request: Annotated[
        Path, typer.Option(help="File with the body of the request.", dir_okay=False)
    ],
    *,
    subject: Annotated[
        str | None, typer.Option(help="Who had asked; else the holder of the key.")
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="A group of who had asked, beside memberships; may be repeated."),
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option(
            help="File with the response of GET /v1/receipts/keys; else the gateway is asked.",
            dir_okay=False,
        ),
    ] = None,
    url: Annotated[
        str, typer.Option(help="URL of the gateway.", envvar="NEARHIT_URL")
    ] = "http://127.0.0.1:8080",
    key: Annotated[str | None, typer.Option(help="An admin's key.", envvar="NEARHIT_KEY")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask for the answer of a receipt's revision again, and compare it with the receipt.

    Shows since which change the answer of today is another one. Exits with 1 if the answer of that
    revision is not the one that the receipt states. The tenant has to keep past versions: see PUT
    /v1/replay.

        nearhit replay receipt.txt --request request.json --subject ana
    """
    with common.errors():
        import httpx2

        from gateway.extensions._commands.gateway_address import gateway_address
        from gateway.extensions.receipts.receipt import digest

        base_url, secret = gateway_address(url, key)
        headers = {"Authorization": f"Bearer {secret}"}
        with httpx2.Client(base_url=base_url, headers=headers, timeout=_CALL_S) as client:
            published = _read(keys) if keys else _called(client, "GET", "/v1/receipts/keys").content
            statement = _verified(receipt, published, request, None)
            body = {
                "as_of_revision": int(statement.revision.partition(";")[0]),
                "subject": subject,
                "groups": group or [],
                "search": orjson.loads(_read(request)),
            }
            then = _called(client, "POST", "/v1/search/replay", body)
            changed = _called(client, "POST", "/v1/search/replay/difference", body).json()
    is_same = digest(then.content) == statement.answer
    is_complete = then.headers["nearhit-replay"] == "complete"
    if as_json:
        found = {"is_as_stated": is_same, "is_complete": is_complete, "today": changed}
        common.print_json({"revision": body["as_of_revision"], **found})
    else:
        shown = "as the receipt states" if is_same else "another one than the receipt states"
        console.print(f"revision {body['as_of_revision']}: the answer is {shown}")
        if not is_complete:
            console.print("documents have been forgotten since: it may lack some")
        _tell(changed)
    if not is_same:
        raise typer.Exit(1)


def _tell(changed: "Mapping[str, Any]") -> None:
    """Whether the answer of today is another one, and since when."""
    if changed["is_same"]:
        console.print("today: the answer is the same")
    else:
        documents = ", ".join(changed["documents"]) or "none"
        console.print(
            f"today: another one, since revision {changed['revision']} of "
            f"{changed['committed_at']}, which changed: {documents}",
            markup=False,
            soft_wrap=True,
        )


def _read(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == Path("-") else file.read_bytes()
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from None


def _verified(
    receipt: Path, published: bytes, request: Path | None, answer: Path | None
) -> "Statement":
    """published: a JSON Web Key Set. Raises `CommandError`."""
    from gateway.extensions.receipts import receipt as receipts

    try:
        return receipts.verify(
            _read(receipt).decode("ascii", "replace").strip(),
            orjson.loads(published),
            request=None if request is None else _read(request),
            answer=None if answer is None else _read(answer),
        )
    except receipts.InvalidReceipt as error:
        raise CommandError(f"the receipt is not valid: {error}") from None
    except orjson.JSONDecodeError:
        raise CommandError("the keys are no JSON Web Key Set") from None


def _called(
    client: "httpx2.Client", method: str, path: str, body: object = None
) -> "httpx2.Response":
    """The response of a call that succeeds. Raises `CommandError`."""
    import httpx2

    try:
        response = client.request(method, path, json=body)
    except httpx2.HTTPError as error:
        raise CommandError(f"{client.base_url} does not answer: {error}") from None
    if response.is_error:
        raise CommandError(f"{method} {path}: {response.status_code} {response.text[:500]}")
    return response


def _lines(statement: "Statement") -> Iterator[tuple[str, str]]:
    """The fields for people; `nearhit audit log --verify --head` takes the row of the log."""
    head = statement.audit_log
    shown = {
        "iat": datetime.fromtimestamp(statement.iat, UTC).isoformat(sep=" "),
        "audit_log": f"{statement.tenant}:{head.number}:{head.hash}" if head else "empty",
    }
    for name, value in statement.model_dump(exclude={"chunks"}).items():
        yield name, shown.get(name, value)
    for number, chunk in enumerate(statement.chunks, start=1):
        yield f"chunk {number}", chunk
