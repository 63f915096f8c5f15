"""Words that a line break parts: which of their hyphens stay."""

import pytest

from gateway.extensions.formats.pdf.hyphens import join_hyphenated


@pytest.mark.parametrize(
    ("parted", "joined"),
    [
        ("the op-\nposite side", "the opposite side"),
        ("in the ware-\nhouse, and", "in the warehouse, and"),
        ("its docu-\nmentation", "its documentation"),
        ("all employ-\n ees", "all employees"),
        ("a well-\nknown rule", "a well-known rule"),
        ("the long-\nterm plan", "the long-term plan"),
        ("a state-of-\nthe-art tool", "a state-of-the-art tool"),
        ("pre-\nand postwar", "pre- and postwar"),
        ("in Baden-\nWürttemberg", "in Baden-Württemberg"),
        ("of COVID-\n19", "of COVID-19"),
        ("by pgvec-\ntor", "by pgvector"),
        ("unbeliev\u00ad\nable", "unbelievable"),
        ("the main\u2010\ntenance", "the maintenance"),
        ("a dash -\nand more", "a dash -\nand more"),
        ("two--\nlines", "two--\nlines"),
        (
            "Die Wohnungen werden mit der Heizung ver-\nmietet, Ein-\nund Auszug sind frei.",
            "Die Wohnungen werden mit der Heizung vermietet, Ein- und Auszug sind frei.",
        ),
        (
            "A empresa não paga as férias dos seus funcio-\nnários.",
            "A empresa não paga as férias dos seus funcionários.",
        ),
    ],
)
def test_a_parted_word_is_joined_as_it_is_written_elsewhere(parted: str, joined: str) -> None:
    assert join_hyphenated(parted) == joined
