"""What was made of a piece of text is not made again, and takes no more memory than it may."""

from index.text.memo import CHARACTERS_MAX, PIECES_MAX, Memo


def counting(made: list[str]) -> Memo[int]:
    """Makes lengths; `made` is told of each."""

    def make(piece: str) -> int:
        made.append(piece)
        return len(piece)

    return Memo(make)


def test_what_comes_again_is_not_made_again() -> None:
    made: list[str] = []
    lengths = counting(made)

    assert [lengths[piece] for piece in ["a", "bb", "a", "bb"]] == [1, 2, 1, 2]
    assert made == ["a", "bb"]


def test_a_long_piece_is_not_kept() -> None:
    lengths = counting([])

    assert lengths["x" * (CHARACTERS_MAX + 1)] == CHARACTERS_MAX + 1
    assert not lengths


def test_what_is_full_begins_anew() -> None:
    lengths = counting([])

    for number in range(PIECES_MAX + 1):
        assert lengths[str(number)] == len(str(number))

    assert len(lengths) == 1
    assert lengths["0"] == 1
