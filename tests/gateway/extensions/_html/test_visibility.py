"""Text that the readers of a page don't see: left out, or marked."""

import pytest

from gateway.extensions._html import html_markdown
from gateway.extensions.sources_web import web_page

SEEN = "Everybody gets 25 days of leave."


def text(body: str, *, marks_hidden: bool = False) -> str:
    html = f"<title>T</title><body><p>{SEEN}</p>{body}"
    return html_markdown.convert(html, marks_hidden=marks_hidden).text


HIDDEN = [
    "<p hidden>x9</p>",
    "<p hidden=hidden><b>x9</b></p>",
    "<div hidden><ul><li><p>x9</ul></div>",
    "<table hidden><tr><td>x9</table>",
    "<dialog>x9</dialog>",
    "<div popover>x9</div>",
    "<textarea>x9</textarea>",
    "<datalist><option>x9</datalist>",
    "<video>x9</video>",
]
STYLES = [
    "display:none",
    "DISPLAY : NONE !important",
    "color:red; display:/* */none",
    r"d\69splay: none",
    "display:none !important; display:block",
    "visibility: hidden",
    "visibility:collapse",
    "content-visibility: hidden",
    "opacity:0",
    "opacity: 0.0%",
    "font-size:0",
    "font-size: 0px",
    "font-size:1px",
    "font:0/0 a",
    "position:absolute;left:-9999px",
    "position:fixed;top:-200vh",
    "position:absolute;right:-5000pt",
    "text-indent:-999em",
    "margin-left:-10000px",
    "transform:translateX(-9999px)",
    "transform:scale(0)",
    "clip:rect(0,0,0,0);position:absolute",
    "clip: rect(1px 1px 1px 1px)",
    "clip-path:inset(50%)",
    "clip-path:inset(0 100% 0 0)",
    "width:1px;height:1px;overflow:hidden",
    "max-height:0;overflow:hidden",
    "block-size:0;overflow:hidden",
    "line-height:0;overflow:hidden",
    "padding:0;width:1px;height:1px;overflow:hidden",
    "scale:0",
    "position:absolute;translate:-9999px 0",
    "color:transparent",
    "color:#fff;background:white",
    "color:rgba(0,0,0,0)",
    "color:rgb(0 0 0 / 0%)",
    "color:hsl(0 0% 100%);background:#fff",
]


@pytest.mark.parametrize("body", HIDDEN + [f'<p style="{style}">x9</p>' for style in STYLES])
def test_hidden_text_is_left_out_or_marked(body: str) -> None:
    assert text(body) == f"{SEEN}\n"
    assert "[hidden: x9]" in text(body, marks_hidden=True)


@pytest.mark.parametrize(
    "body",
    [
        "<p hidden=until-found>x9</p>",
        "<details><summary>More</summary>x9</details>",
        "<dialog open>x9</dialog>",
        "<p aria-hidden=true>x9</p>",
        "<p title='display:none'>x9</p>",
        "<div style='font-size:0'><span style='font-size:14px'>x9</span></div>",
        "<div style='visibility:hidden'><p style='visibility:visible'>x9</p></div>",
        "<div style='color:transparent'><p style='color:#333'>x9</p></div>",
        *(
            f'<p style="{style}">x9</p>'
            for style in (
                "display:none;display:block",
                "display:nonesuch",
                "content:'display:none'",
                "opacity:0.5",
                "font:700 14px/0 Arial",
                "font-size:90%",
                "left:-10px",
                "left:1200px;top:4000px",
                "text-indent:2em",
                "height:0",
                "overflow:hidden",
                "overflow:hidden;height:200px",
                "color:#fff;background:#000",
                "transform:translate(-50%,-50%)",
                "clip:rect(0,100px,50px,0)",
                "clip:rect(auto,auto,auto,auto)",
                "clip-path:inset(0 60% 0 0)",
                "clip-path:inset(0 round 60%)",
                "line-height:1;overflow:hidden",
                "line-height:1.5;overflow:hidden",
                "flex:1;width:0;overflow:hidden",
                "width:0;min-width:100%;overflow:hidden",
                "height:0;padding-top:56%;overflow:hidden",
                "background:linear-gradient(red,blue);background-clip:text;color:transparent",
                "color:oklch(1 0 0);background:#000",
            )
        ),
    ],
)
def test_text_that_is_seen_or_can_be_found_is_kept(body: str) -> None:
    assert "x9" in text(body)
    assert "[hidden" not in text(body, marks_hidden=True)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("<div style='display:none'><p style='display:block'>x9</p></div><p>End</p>", "End"),
        ("<p>One <span hidden>x9</span>two</p>", "One two"),
        ("<p hidden>x9<p>End", "End"),
        ("<table><tr><th>a<td hidden>x9<td>b</table>", "| | | | --- | --- | | a | b |"),
        ("<select><option>Chad<option>Chile</select><button>Go</button>", "Chad Chile Go"),
        ("Mail<textarea>x9</textarea>us", "Mail us"),
    ],
)
def test_what_surrounds_hidden_text_stays_apart(body: str, shown: str) -> None:
    assert " ".join(text(body).removeprefix(SEEN).split()) == shown


@pytest.mark.parametrize("body", ["<div><p hidden>x9</p></div>", "<template>x9</template>"])
def test_hidden_text_is_not_the_content_of_a_web_page(body: str) -> None:
    html = f"<title>T</title><p>{SEEN}</p>{body}"

    assert "x9" not in web_page.convert(html).page.text


def test_the_length_of_hidden_text_is_known() -> None:
    assert html_markdown.convert("<p>Seen<p hidden>12345").hidden == 5
