"""What a text embeds as characters, and is no text."""

import base64
import time
from hashlib import sha512

import pytest

from gateway.extensions._files.inline_data import without_inline_data

CONTENT = b"".join(sha512(bytes([number])).digest() for number in range(47))[:3_000]
LONG = base64.b64encode(CONTENT).decode()
WRAPPED = base64.encodebytes(CONTENT).decode()
SVG = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'>" + "<path d='M0 (1)'/>" * 50


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"![a](data:image/png;base64,{LONG}) x", "![a](data:image/png;base64,) x"),
        (f"![a](<data:image/png;base64,{LONG}>) x", "![a](<data:image/png;base64,>) x"),
        (f'![a](data:image/png;base64,{LONG} "b")', '![a](data:image/png;base64, "b")'),
        (
            f"[a]\n\n[a]: data:image/png;base64,{LONG}\n\nx",
            "[a]\n\n[a]: data:image/png;base64,\n\nx",
        ),
        (f"<img src='data:image/gif;base64,{LONG}'>x", "<img src='data:image/gif;base64,'>x"),
        (f"<img src=data:image/gif;base64,{LONG}>x", "<img src=data:image/gif;base64,>x"),
        (f'<img src="data:image/gif;base64,\n{WRAPPED}">x', '<img src="data:image/gif;base64,">x'),
        (f'<img src="DATA:image/svg+xml;utf8,{SVG}">x', '<img src="DATA:image/svg+xml;utf8,">x'),
        (f"![](data:image/svg+xml,{'%3Csvg' * 50})", "![](data:image/svg+xml,)"),
        (
            f"url(data:font/woff2;charset=utf-8;base64,{LONG})",
            "url(data:font/woff2;charset=utf-8;base64,)",
        ),
        (f"before {LONG} after", "before [base64, 4,000 characters] after"),
        (f"before\n{WRAPPED}\nafter", "before\n[base64, 4,052 characters]\n\nafter"),
        (f"> {WRAPPED}".replace("\n", "\n> "), "[base64, 4,158 characters]\n> "),
    ],
)
def test_embedded_files_are_left_out(text: str, kept: str) -> None:
    assert without_inline_data(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "A pixel is `data:image/gif;base64,R0lGODlhAQABAAAAACw=`.",
        "metadata: " + "some words " * 50,
        'The key "data:" is followed by "a,b".' + " Words." * 100,
        "-" * 300 + "\n" + "_" * 300,
        "https://example.org/" + "a-long-path/" * 40,
        "https://example.org/" + "Ab1" * 100,
        "https://example.org/?key=" + "Ab1" * 100,
        "ACGT" * 200,
        "| " + "--- | " * 100,
        "営業時間は九時から" * 100,
        "\n".join(f"{number:064d}" for number in range(50)),
        "the token abc.def.ghi " * 30,
    ],
)
def test_text_is_kept(text: str) -> None:
    assert without_inline_data(text) == text


@pytest.mark.parametrize(
    "part", ['"data:a/b,', "data:;a=b", "a/", "A1a" * 25 + "\n", "> ", "%41", 'data:,"', "="]
)
def test_the_time_is_linear(part: str) -> None:
    text = part * (200_000 // len(part))
    started_s = time.process_time()

    without_inline_data(text)

    assert time.process_time() - started_s < 1
