"""The encoding of texts: browsers' labels and their order, and one character for a wrong byte."""

# ruff: noqa: RUF001  texts in the scripts of many languages

from io import BytesIO

import pytest

from ingest.parse.encoding import NotText, decode, encoding_of


def page(label: str, text: str, codec: str) -> bytes:
    return b'<!doctype html><meta charset="%s"><p>' % label.encode() + text.encode(codec)


@pytest.mark.parametrize(
    ("label", "text", "codec"),
    [
        ("gb2312", "朱镕基与喆", "gbk"),
        ("chinese", "㐂是一个字", "gb18030"),
        ("Shift_JIS", "①髙島屋", "cp932"),
        ("sjis", "日本語", "cp932"),
        ("x-euc-jp", "①番の窓口", "euc_jis_2004"),
        ("ks_c_5601-1987", "똠방각하", "cp949"),
        ("big5", "香港嘅士多", "big5hkscs"),
        ("iso-8859-1", "“Tee” für 5 €", "cp1252"),
        ("us-ascii", "naïve – œuvre", "cp1252"),
        ("latin5", "İzin “şubat”", "cp1254"),
        ("iso-8859-11", "ลา “หยุด”", "cp874"),
        (" UTF8 ", "Łódź", "utf-8"),
        ("x-cp1251", "Отпуск", "cp1251"),
        ("koi8-ru", "Відпустка їжак", "koi8-u"),
        ("dos-874", "สวัสดี", "cp874"),
        ("utf-16le", "Büro", "utf-8"),
        ("unicode", "Büro", "utf-8"),
    ],
)
def test_a_label_means_what_it_means_to_browsers(label: str, text: str, codec: str) -> None:
    assert decode(page(label, text, codec), is_markup=True).endswith(f"<p>{text}")


@pytest.mark.parametrize(
    ("start", "codec"),
    [
        (b"<meta charset=cp1251>", "cp1251"),
        (b"<META CharSet = 'WINDOWS-1251' >", "cp1251"),
        (b"<meta http-equiv=Content-Type content='text/html; charset = koi8-r'>", "koi8-r"),
        (b"<meta content='text/html;charset=\"koi8-r\"' http-equiv='content-type'>", "koi8-r"),
        (b"<meta name=x content='text/html; charset=koi8-r'><meta charset=cp1251>", "cp1251"),
        (b"<!-- <meta charset=koi8-r> --><meta charset=cp1251>", "cp1251"),
        (b"<title><meta charset=koi8-r></title><meta charset=cp1251>", "cp1251"),
        (b"<script>'<meta charset=koi8-r>'</script><meta charset=cp1251>", "cp1251"),
        (b"<p title='<meta charset=koi8-r>'><meta charset=cp1251>", "cp1251"),
        (b"<meta charset=none-such><meta charset=cp1251>", "cp1251"),
        (b"<meta charset=iso-2022-kr><meta charset=cp1251>", "cp1251"),
        (b"<meta charset=cp1251><meta charset=koi8-r>", "cp1251"),
        (b"<?xml version='1.0' encoding='koi8-r'?><html>", "koi8-r"),
        (b"<?xml version='1.0' encoding='koi8-r'?><meta charset=cp1251>", "cp1251"),
        (b"<!--" + b"x" * 20_000 + b"--><meta charset=cp1251>", "cp1251"),
        (b"<!--" + b"x" * 1_000 + b"<meta charset=koi8-r>--><meta charset=cp1251>", "cp1251"),
    ],
)
def test_the_first_element_that_declares_an_encoding_counts(start: bytes, codec: str) -> None:
    text = "Отпуск и заявление"

    assert decode(start + text.encode(codec), is_markup=True).endswith(text)


@pytest.mark.parametrize(
    ("content_type", "content", "text"),
    [
        ("text/html; charset=koi8-r", page("cp1251", "Да", "koi8-r"), "Да"),
        ("Text/HTML;Charset=EUC-JP", "九時".encode("euc-jp"), "九時"),
        ('text/html; charset="windows-1251"; x=y', "Да".encode("cp1251"), "Да"),
        ("text/html;charset='windows-1251'", "Да".encode("cp1251"), "Да"),
        ("text/html; charset=none-such", page("cp1251", "Да", "cp1251"), "Да"),
        ("text/html; charset=utf-16be", "Да".encode("utf-16-be"), "Да"),
        ("text/html; charset=cp1251", "\ufeffДа".encode(), "Да"),
        ("text/html; charset=cp1251", "\ufeffДа".encode("utf-16-le"), "Да"),
        ("text/html", "\ufeff".encode() + page("cp1251", "Да", "utf-8"), "Да"),
        ("text/html", "\ufeffДа".encode("utf-16-be"), "Да"),
        ("text/plain", "\ufeffДа".encode("utf-32-le"), "Да"),
        ("text/plain", "\ufeffДа".encode("utf-32-be"), "Да"),
    ],
)
def test_a_mark_precedes_the_header_which_precedes_the_page(
    content_type: str, content: bytes, text: str
) -> None:
    assert decode(content, content_type, is_markup=True).rpartition(">")[2] == text


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
    assert decode(content, f"text/plain; charset={charset}") == text


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


def test_a_page_in_utf_16_without_a_mark_is_read() -> None:
    text = "<html><meta charset=utf-16><p>Das Büro"

    assert decode(text.encode("utf-16-le"), is_markup=True) == text


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
