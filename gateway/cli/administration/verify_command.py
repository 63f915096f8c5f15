"""`nearhit verify`: checks a receipt without a gateway, a database or a network."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from gateway.cli import common
from gateway.cli.common import AsJson, console
from gateway.errors import CommandError

if TYPE_CHECKING:  # slow to import, and `--help` does not need it
    from gateway.receipts.receipt import Statement


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
        from gateway.receipts import receipt as receipts

        text = sys.stdin.buffer.read() if receipt == Path("-") else _read(receipt)
        try:
            statement = receipts.verify(
                text.decode("ascii", "replace").strip(),
                _key_set(keys),
                request=None if request is None else _read(request),
                answer=None if answer is None else _read(answer),
            )
        except receipts.InvalidReceipt as error:
            raise CommandError(f"the receipt is not valid: {error}") from None
    if as_json:
        common.print_json(statement.model_dump())
        return
    for name, value in _lines(statement):
        console.print(f"{name}: {value}", markup=False, soft_wrap=True)
    compared = [name for name, file in (("answer", answer), ("request", request)) if file]
    console.print(f"valid; compared with the {' and the '.join(compared) or 'keys alone'}")


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


def _key_set(path: Path) -> dict[str, Any]:
    try:
        key_set = orjson.loads(_read(path))
    except orjson.JSONDecodeError:
        key_set = None
    if not isinstance(key_set, dict):
        raise CommandError(f"{path} is no JSON Web Key Set")
    return key_set


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
