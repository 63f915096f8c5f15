"""Numbers in words, in digits: twenty-five is 25, and nineteenth is 19.

Up to 999,999, in the six languages that have word lists. What mostly means something else is no
number: one, first, a second, and the hundred in `por cento`. Dozens and hundreds are none either.

Pure.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

_TO_NINETEEN = (60, 80)  # soixante-dix, quatre-vingt-dix; no other language says so
_NO_NUMBERS = {"second", "cent", "cento", "ciento"}  # alone; they are parts of longer numbers


@dataclass(frozen=True, slots=True)
class _Language:
    """Words in plain spelling; a slash separates those of one number.

    units:     from 1 on.
    tens:      from 20 on.
    joints:    between the parts of a number; also nothing.
    multiples: of what stands before them, by name; 100 and 1000 alone, too.
    marks:     of ordinals in digits.
    endings:   of ordinals in words, each with what stands there in the number.
    """

    units: str
    tens: str
    joints: tuple[str, ...]
    multiples: Mapping[str, int]
    others: Mapping[str, int]
    marks: str = ""
    endings: tuple[tuple[str, str], ...] = ()
    is_unit_first: bool = False

    def words(self) -> Mapping[str, int]:
        """The numbers below 100 by their word, written as one."""
        units = dict(_numbered(self.units, 1, 1))
        tens = dict(_numbered(self.tens, 20, 10))
        words = {**units, **tens, **self.others}
        for (unit, ones), (ten, value), joint in product(
            units.items(), tens.items(), ("", *self.joints)
        ):
            if ones < 10 or value in _TO_NINETEEN:
                word = f"{unit}{joint}{ten}" if self.is_unit_first else f"{ten}{joint}{unit}"
                words.setdefault(word, value + ones)
        return words


def _numbered(words: str, first: int, step: int) -> Iterator[tuple[str, int]]:
    for place, spellings in enumerate(words.split()):
        for spelling in spellings.split("/"):
            yield spelling, first + step * place


_LANGUAGES = {
    "en": _Language(
        units="one/first two/second three/third four five six seven eight nine ten eleven twelve"
        " thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
        tens="twenty thirty forty fifty sixty seventy eighty ninety",
        joints=("and",),
        multiples={"thousand": 1000, "hundred": 100},
        others={"dozen": 12},
        marks="st nd rd th",
        endings=(("ieth", "y"), ("fth", "ve"), ("hth", "ht"), ("nth", "ne"), ("th", "")),
    ),
    "de": _Language(
        units="ein/eins/eine zwei drei/drit vier funf sechs sieben/sieb acht neun zehn elf zwolf"
        " dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn",
        tens="zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig",
        joints=("und",),
        multiples={"tausend": 1000, "hundert": 100},
        others={"dutzend": 12},
        endings=tuple((start + end, "") for start in ("te", "ste") for end in ("", *"nrs")),
        is_unit_first=True,
    ),
    "es": _Language(
        units="uno/un/una dos tres cuatro cinco seis siete ocho nueve diez/dieci once doce trece"
        " catorce quince dieciseis diecisiete dieciocho diecinueve",
        tens="veinte/veinti treinta cuarenta cincuenta sesenta setenta ochenta noventa",
        joints=("y",),
        multiples={"mil": 1000, "novecientos": 900, "setecientos": 700, "quinientos": 500}
        | {"cientos": 100, "ciento": 100, "cien": 100},
        others=dict(_numbered("tercero/tercer/tercera", 3, 1))
        | dict(_numbered("quinto sexto septimo octavo noveno decimo", 5, 1))
        | {"docena": 12},
        marks="o",
    ),
    "fr": _Language(
        units="un/une deux trois quatre cinq six sept huit neuf dix onze douze treize"
        " quatorze quinze seize dixsept dixhuit dixneuf",
        tens="vingt trente quarante cinquante soixante septante quatrevingt/quatrevingts/huitante"
        " nonante",
        joints=("et",),
        multiples={"mille": 1000, "cents": 100, "cent": 100},
        others={"douzaine": 12},
        marks="er e eme",
        endings=(("ieme", ""), ("ieme", "e"), ("vieme", "f"), ("uieme", "")),
    ),
    "it": _Language(
        units="uno/un/una due tre quattro cinque sei sette otto nove dieci undici dodici tredici"
        " quattordici quindici sedici diciassette diciotto diciannove",
        tens="venti/vent trenta/trent quaranta/quarant cinquanta/cinquant sessanta/sessant"
        " settanta/settant ottanta/ottant novanta/novant",
        joints=(),
        multiples={"mila": 1000, "mille": 1000, "cento": 100},
        others=dict(_numbered("terzo/terza", 3, 1))
        | dict(_numbered("quinto sesto settimo ottavo nono decimo", 5, 1))
        | {"dozzina": 12},
        marks="o",
        endings=tuple(product(("esimo", "esima"), ("", *"aeio"))),
    ),
    "pt": _Language(
        units="um/uma dois/duas tres quatro cinco seis sete oito nove dez onze doze treze"
        " quatorze/catorze quinze dezesseis/dezasseis dezessete/dezassete dezoito"
        " dezenove/dezanove",
        tens="vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
        joints=("e",),
        multiples={"mil": 1000}
        | dict(_numbered("duzentos trezentos quatrocentos quinhentos", 200, 100))
        | dict(_numbered("seiscentos setecentos oitocentos novecentos", 600, 100))
        | {"cento": 100, "cem": 100},
        others=dict(_numbered("terceiro", 3, 1))
        | dict(_numbered("quinto sexto setimo oitavo nono decimo", 5, 1))
        | {"duzia": 12},
        marks="o",
    ),
}
_WORDS = {code: language.words() for code, language in _LANGUAGES.items()}
_LETTERS = 3  # that say of most words that they begin no number
_STARTS = {
    code: {word[:_LETTERS] for word in (*_WORDS[code], *language.multiples, *language.joints)}
    for code, language in _LANGUAGES.items()
}


def digits(word: str, language: str) -> str | None:
    """The number that a word names, from 2 on, or that 19th does; None if it names none.

    word: in plain spelling and lower case. The words of a longer number come as one.
    """
    starts = _STARTS.get(language, ())
    if word[:_LETTERS] not in starts:
        return _unmarked(word, language) if starts and word[:1].isdecimal() else None
    if word in _NO_NUMBERS:
        return None
    value = _cardinal(word, language) or _ordinal(word, language)
    return str(value) if value > 1 else None


def is_start(letters: str, language: str) -> bool:
    """Whether a number, or a joint within one, begins with these three letters."""
    return letters in _STARTS.get(language, ())


def is_longer(word: str, language: str) -> bool:
    """Whether the word is a number without which there is no longer one: from 10 on."""
    return _value(word, language) >= 10


def is_part(word: str, language: str) -> bool:
    """Whether the word may stand in a number of several words."""
    return (
        _value(word, language) > 0
        or digits(word, language) is not None
        or (language in _LANGUAGES and word in _LANGUAGES[language].joints)
    )


def _unmarked(ordinal: str, language: str) -> str | None:
    numbers = (ordinal.removesuffix(mark) for mark in _LANGUAGES[language].marks.split())
    return next((number for number in numbers if number != ordinal and number.isdecimal()), None)


def _value(word: str, language: str) -> int:
    """Of a word that is no ordinal; 0 for none."""
    may_be = word[:_LETTERS] in _STARTS.get(language, ())
    return _cardinal(word.replace("-", ""), language) if may_be else 0


def _ordinal(word: str, language: str) -> int:
    """The number; 0 for none."""
    for ending, instead in _LANGUAGES[language].endings:
        if word.endswith(ending):
            value = _cardinal(word.removesuffix(ending) + instead, language)
            if value:
                return value
    return 0


def _cardinal(word: str, language: str) -> int:
    """The number; 0 for none."""
    value = _WORDS[language].get(word)
    if value is not None:
        return value
    for name, multiple in _LANGUAGES[language].multiples.items():
        before, found, after = word.partition(name)
        if found:
            factor = _cardinal(before, language) if before else 1
            rest = _rest(after, language) if after and factor else 0
            is_number = factor < 1000 and rest < multiple and (rest or not after)
            return factor * multiple + rest if is_number else 0
    return 0


def _rest(word: str, language: str) -> int:
    """What stands after a multiple, with a joint or without."""
    for joint in _LANGUAGES[language].joints:
        if word.startswith(joint) and (rest := _cardinal(word.removeprefix(joint), language)):
            return rest
    return _cardinal(word, language)
