"""`nearhit verify`: checks a receipt without a gateway, a database or a network."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from gateway.cli import common
from gateway.cli.common import AsJson, console

if TYPE_CHECKING:  # slow to import, and `--help` does not need it
    from gateway.extensions.receipts.receipt import Statement

COMMANDS = typer.Typer()


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
        from gateway.extension import CommandError
        from gateway.extensions.receipts import receipt as receipts

        try:
            text = sys.stdin.buffer.read() if receipt == Path("-") else receipt.read_bytes()
            statement = receipts.verify(
                text.decode("ascii", "replace").strip(),
                orjson.loads(keys.read_bytes()),
                request=None if request is None else request.read_bytes(),
                answer=None if answer is None else answer.read_bytes(),
            )
        except receipts.InvalidReceipt as error:
            raise CommandError(f"the receipt is not valid: {error}") from None
        except orjson.JSONDecodeError:
            raise CommandError(f"{keys} is no JSON Web Key Set") from None
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from None
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
