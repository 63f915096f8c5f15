"""Chunks of scripts without spaces between words, and sentences that end with other stops."""

import re
import unicodedata
from itertools import pairwise
from random import Random

import pytest

from ingest.chunkers.segments import sentence_ends
from ingest.chunkers.structure import WORDS_MAX, chunks
from ingest.chunkers.word_count import count_words

CHINESE = "员工每年有带薪假期部门经理批准之后才能休请在三月底前提出申请并写入日历以便同事安排工作"
JAPANESE = "有給休暇は年に二十五日あり三月末までに取得して上司に相談しカレンダーに書いてください"
THAI = "พนักงานทุกคนได้รับวันลาพักร้อนยี่สิบห้าวันต่อปีแจ้งหัวหน้าก่อนและลงวันที่ในปฏิทินเพื่อให้เพื่อนวางแผนงาน"
LAO = "ພະນັກງານທຸກຄົນໄດ້ຮັບວັນພັກຊາວຫ້າວັນຕໍ່ປີແຈ້ງຫົວໜ້າກ່ອນແລະເຮັດວຽກໃຫ້ແລ້ວ"
KHMER = "បុគ្គលិកគ្រប់រូបទទួលបានថ្ងៃឈប់សម្រាកម្ភៃប្រាំថ្ងៃក្នុងមួយឆ្នាំ"
BURMESE = "ဝန်ထမ်းတိုင်းသည်တစ်နှစ်လျှင်အားလပ်ရက်နှစ်ဆယ့်ငါးရက်ရရှိသည်"
KOREAN = "모든 직원은 일 년에 이십오 일의 유급 휴가를 받으며 삼월 말까지 써야 합니다"


def sentences(characters: str, stop: str, count: int = 300) -> str:
    """Sentences of clusters of the characters, in an order of their own."""
    random = Random(3)  # noqa: S311  no secret
    clusters = re.findall(r"[เ-ไເ-ໄ]?.[\u0300-\u036f]*", characters)
    clusters = [each for each in clusters if not unicodedata.category(each[-1]).startswith("M")]
    return "".join(
        "".join(random.choices(clusters, k=random.randint(8, 24))) + stop for _ in range(count)
    )


@pytest.mark.parametrize(
    ("characters", "stop", "characters_max"),
    [
        (CHINESE, "。", 480),
        (CHINESE, "！", 480),  # noqa: RUF001
        (CHINESE, "，", 480),  # noqa: RUF001
        (CHINESE, "", 480),
        (JAPANESE, "。", 480),
        (JAPANESE, "、", 480),
        (JAPANESE, "", 480),
        (KOREAN, ". ", 640),
        (THAI, " ", 960),
        (THAI, "", 960),
        (LAO, "", 960),
        (KHMER, "។", 960),
        (BURMESE, "။", 960),
    ],
)
def test_chunks_are_as_short_as_the_script_is_dense(
    characters: str, stop: str, characters_max: int
) -> None:
    text = f"# {characters[:8]}\n\n{sentences(characters, stop)}"

    found = chunks(text)

    mean = sum(len(chunk.text) for chunk in found) / len(found)
    assert mean <= characters_max * 5 / 8
    assert all(len(chunk.text) <= characters_max for chunk in found)
    assert all(count_words(chunk.text) <= WORDS_MAX for chunk in found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("three short words", 3),
        ("três peças é", 3),
        ("x" * 32, 2),
        ("漢" * 30, 20),
        ("かな" * 15, 20),
        ("한" * 30, 15),
        ("ไทย" * 10, 10),
        ("ｷｭｳ" * 10, 20),
        ("བོད" * 10, 10),
        ("漢" + "x" * 32, 3),
        ("three 漢字漢 words", 4),
        ("iPhone手机壳", 3),
        ("слова по русски", 3),
        ("कुछ शब्द हैं", 3),
    ],
)
def test_words_are_counted_by_script(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    "parts",
    [
        ["他走了。", "她来了！", "真的？", "是。"],  # noqa: RUF001
        ["他说：“走吧。”", "她走了。"],  # noqa: RUF001
        ["本当？！", "はい。"],  # noqa: RUF001
        ["ﾊｲ｡", "ｿｳﾃﾞｽ｡"],
        ["値は3．5である．", "次へ．"],  # noqa: RUF001
        ["2023年。", "2024年。"],
        ["यह एक है।", "वह दो है॥", "क्या?", "हाँ।"],
        ["یہ ایک ہے۔", "وہ دو ہے؟", "ہاں۔"],  # noqa: RUF001
        ["هل هذا نص؟", "نعم."],
        ["ဒါကစာ။", "ဟုတ်။"],
        ["នេះជាអត្ថបទ។", "បាទ។"],
        ["ይህ ነው።", "አዎ።"],
        ["One.", "中文。", "Two."],
    ],
)
@pytest.mark.parametrize("space", ["", " ", "\n"])
def test_sentences_end_at_the_stops_of_each_script(parts: list[str], space: str) -> None:
    ends_in_latin = any(part[-1] in ".?!" for part in parts)
    text = (space or " " * ends_in_latin).join(parts)

    bounds = pairwise((0, *sentence_ends(text, 0, len(text)), len(text)))

    assert [text[start:end].strip() for start, end in bounds if start < end] == parts


@pytest.mark.parametrize(
    ("characters", "stop"),
    [(CHINESE, "。"), (CHINESE, "，"), (JAPANESE, ""), (THAI, " "), (THAI, ""), (KHMER, "។")],  # noqa: RUF001
)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_an_edit_embeds_three_chunks_at_most(characters: str, stop: str, share: float) -> None:
    text = sentences(characters, stop)
    at = int(len(text) * share)
    edited = text[:at] + text[at + 3 :]

    old, new = ({chunk.digest for chunk in chunks(each)} for each in (text, edited))

    assert len(old) > 10
    assert 1 <= len(new - old) <= 3


@pytest.mark.parametrize("text", ["กำ" * 1_000, "นี้" * 1_000, "é" * 6_000, "ကို" * 1_000])
def test_no_mark_is_parted_from_its_letter(text: str) -> None:
    decomposed = unicodedata.normalize("NFD", text)

    starts = [decomposed[chunk.start] for chunk in chunks(decomposed)]

    assert len(starts) > 2
    assert not any(unicodedata.category(start).startswith("M") for start in starts)
    assert "ำ" not in starts
