"""Messages: EML by the standard library, MSG of Outlook by `oxmsg`."""

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from io import BytesIO
from typing import TYPE_CHECKING

from gateway.extensions._files import encoding
from gateway.extensions._files.extracted import Extracted, ReadOptions, Unreadable
from gateway.extensions._html import html_reader

if TYPE_CHECKING:
    from oxmsg import Message

NESTED_MAX = 8  # messages that are attached to each other
_PROPERTY_HTML = 0x1013  # PidTagHtml of MS-OXPROPS
_BODIES = ("text/plain", "text/html")
_HEADERS = ("From", "To", "Cc", "Date")


def read_eml(content: bytes, options: ReadOptions) -> Extracted:
    """Raises `Unreadable`."""
    content = content.removeprefix(codecs.BOM_UTF8)
    message = BytesParser(policy=policy.default).parsebytes(content)
    if not any(message[name] for name in (*_HEADERS, "Subject", "Received")):
        raise Unreadable("has no header of a message")
    attachments: list[str] = []
    text = "\n\n---\n\n".join(_messages(message, attachments, options))
    return _extracted(str(message["Subject"] or ""), text, attachments)


def read_msg(content: bytes, options: ReadOptions) -> Extracted:
    """Raises `Unreadable`."""
    from oxmsg import Message

    message = Message.load(BytesIO(content))
    recipients = ", ".join(_address(each.name, each.email_address) for each in message.recipients)
    sent = message.sent_date.isoformat(" ") if message.sent_date else ""
    headers = {"From": message.sender or "", "To": recipients, "Date": sent}
    body = (message.body or "").rstrip("\0")  # some writers end a text as C does
    if not body.strip():
        body = _html_body(message, options)
    losses = [] if body.strip() else ["its text is in a form that is not read"]
    attachments = [attachment.file_name or "without a name" for attachment in message.attachments]
    text = _with_headers(headers, body)
    return _extracted((message.subject or "").rstrip("\0"), text, attachments, losses)


def _html_body(message: "Message", options: ReadOptions) -> str:
    """`Message.html_body` is text, decoded strictly by what the message says of its code page."""
    content = message.properties.binary_prop_value(_PROPERTY_HTML)
    if content is not None:
        return html_reader.read(content, options).text
    return html_reader.convert_text(
        message.properties.str_prop_value(_PROPERTY_HTML) or "", options
    ).text


def _messages(
    message: EmailMessage, attachments: list[str], options: ReadOptions, depth: int = 0
) -> Iterator[str]:
    """The message and those attached to it. attachments: receives the names of the others."""
    headers = {name: str(message[name] or "") for name in _HEADERS}
    if depth:
        headers["Subject"] = str(message["Subject"] or "")
    yield _with_headers(headers, _body(message, options))
    for part in message.iter_attachments():
        inner = part.get_payload(0) if part.get_content_type() == "message/rfc822" else None
        if isinstance(inner, EmailMessage) and depth < NESTED_MAX:
            yield from _messages(inner, attachments, options, depth + 1)
        else:
            attachments.append(_name(part))
    # An encrypted message is its own attachment, and so is an invitation.
    if not message.is_multipart() and message.get_content_type() not in _BODIES:
        attachments.append(_name(message))


def _name(part: EmailMessage) -> str:
    return part.get_filename() or part.get_content_type()


def _body(message: EmailMessage, options: ReadOptions) -> str:
    """The plain text; without one, the HTML."""
    for kind in ("plain", "html"):
        part = message.get_body((kind,))
        if part is None:
            continue
        payload = part.get_payload(decode=True)
        content = payload if isinstance(payload, bytes) else b""
        content_type = str(part["Content-Type"] or "")
        if kind == "html":
            text = html_reader.convert(content, replace(options, content_type=content_type)).text
        else:
            text = encoding.decode(content, encoding.charsets(content_type))
        if text.strip():
            return text
    return ""


def _with_headers(headers: Mapping[str, str], body: str) -> str:
    lines = [f"{name}: {' '.join(value.split())}" for name, value in headers.items() if value]
    return "  \n".join(lines) + f"\n\n{body.strip()}\n"


def _address(name: str, address: str) -> str:
    return f"{name} <{address}>" if name and name != address else address or name


def _extracted(
    subject: str, text: str, attachments: Sequence[str], losses: Iterable[str] = ()
) -> Extracted:
    names = [f"its attachments are not read: {', '.join(attachments)}"] if attachments else []
    return Extracted(text, subject, losses=[*losses, *names])
