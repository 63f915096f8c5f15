"""The encoding of pages: browsers' labels and their order."""

# ruff: noqa: RUF001  texts in the scripts of many languages

import pytest

from gateway.extensions._html.html_encoding import decode


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
    assert decode(page(label, text, codec)).endswith(f"<p>{text}")


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

    assert decode(start + text.encode(codec)).endswith(text)


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
    assert decode(content, content_type).rpartition(">")[2] == text


def test_a_page_in_utf_16_without_a_mark_is_read() -> None:
    text = "<html><meta charset=utf-16><p>Das Büro"

    assert decode(text.encode("utf-16-le")) == text
