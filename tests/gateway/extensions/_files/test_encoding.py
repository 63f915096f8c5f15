"""The encoding of texts: by what they are, and one character for a wrong byte."""

# ruff: noqa: RUF001  texts in the scripts of many languages

from io import BytesIO

import pytest

from gateway.extensions._files.encoding import NotText, charsets, decode, encoding_of


def test_a_text_that_is_no_markup_declares_nothing() -> None:
    text = "Write `<meta charset=koi8-r>` into the page – not “utf8”."

    assert decode(text.encode()) == text


@pytest.mark.parametrize(
    ("content", "charset", "text"),
    [
        (b"Caf\xc3\xa9 \xe9 over", "", "Café \ufffd over"),
        (b"Caf\xc3\xa9 \0 over", "", "Café \0 over"),
        ("Grüße aus Łódź ".encode() + b"\xff", "", "Grüße aus Łódź \ufffd"),
        ("Preis: 5 €".encode()[:-1], "utf-8", "Preis: 5 \ufffd"),
        (b"\xef\xbb\xbfStra\xc3\xdfe", "", "Stra\ufffd\ufffde"),
        ("九時から".encode("cp932") + b"\x81", "shift_jis", "九時から\ufffd"),
        ("Tee \x00€".encode("cp1252").replace(b"\0", b"\x81"), "latin1", "Tee \ufffd€"),
        ("Lost: \ufffd".encode(), "", "Lost: \ufffd"),
    ],
)
def test_a_wrong_byte_costs_one_character(content: bytes, charset: str, text: str) -> None:
    assert decode(content, charsets(f"text/plain; charset={charset}")) == text


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("Café straße naïve", "cp1252"),
        ("Der Preis beträgt “5 €”", "cp1252"),
        ("Как оформить отпуск: заявление подаётся заранее.", "cp1251"),
        ("Как оформить отпуск: заявление подаётся заранее.", "koi8-r"),
        ("Zażółć gęślą jaźń", "iso-8859-2"),
        ("Zażółć gęślą jaźń", "cp1250"),
        ("営業時間は九時から十七時までです。", "cp932"),
        ("営業時間は九時から十七時までです。", "euc-jp"),
        ("営業時間は九時から", "iso-2022-jp"),
        ("员工请假须提前两周提交申请，由主管批准。", "gbk"),
        ("員工請假須提前兩週提交申請，由主管批准。", "big5"),
        ("휴가 신청은 2주 전에 제출해야 합니다.", "cp949"),
        ("การลาพักร้อนต้องยื่นล่วงหน้าสองสัปดาห์", "cp874"),
        ("Η αίτηση άδειας υποβάλλεται δύο εβδομάδες πριν.", "cp1253"),
        ("יש להגיש בקשת חופשה שבועיים מראש.", "cp1255"),
        ("يجب تقديم طلب الإجازة قبل أسبوعين.", "cp1256"),
        ("Holiday rules", "utf-16-le"),
        ("Как оформить отпуск", "utf-16-be"),
        ("Only ASCII", "ascii"),
        ("", "ascii"),
    ],
)
def test_undeclared_bytes_are_read_by_what_they_are(text: str, codec: str) -> None:
    assert decode(text.encode(codec)) == text


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff", b"PK\3\4\x14\0\0\0\xf7x"]
)
def test_bytes_that_are_no_text_are_refused(content: bytes) -> None:
    with pytest.raises(NotText):
        decode(content)


def test_a_late_byte_of_a_long_file_counts_and_the_file_is_left_at_its_start() -> None:
    file = BytesIO(b"name;city\n" * 100_000 + "Café;Genève\n".encode("cp1252"))

    assert encoding_of(file) == "cp1252"
    assert file.tell() == 0


@pytest.mark.parametrize("codec", ["utf-8", "cp1252", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", ["id,text\n1,café\0 au lait\n2,tea\n", "id,name\n1,Zoë Müller\0\0\n2,Änne\n"]
)
def test_a_stray_zero_character_changes_no_encoding(text: str, codec: str) -> None:
    assert decode(text.encode(codec)) == text
