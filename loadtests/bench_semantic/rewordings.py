"""Real questions changed by a rule: into another question (a trap), or into the same one."""

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random

Changed = list[tuple[str, str]]  # a question, and what became of it

_NUMBER = re.compile(r"\b\d[\d.,]*\d\b|\b\d\b")
_NAME = re.compile(r"(?<=[a-zà-ú,] )[A-ZÀ-Ú][\w-]+(?: [A-ZÀ-Ú][\w-]+)*")
_VERB = {
    "en": re.compile(
        r"\b(?:is|are|was|were|does|do|did|can|could|should|would|will|must|may|has|have|had)\b(?!')",
        re.IGNORECASE,
    ),
    "pt": re.compile(
        r"\b(?:é|são|foi|foram|está|estão|pode|podem|deve|devem|tem|têm|há|faz|"
        r"ocorre|ocorreu|causa|causou|existe|existem|era|eram)\b",
        re.IGNORECASE,
    ),
}
_NEGATED = {"en": r"\g<0> not", "pt": r"não \g<0>"}
_OPPOSITES = {
    "en": (
        ("increase", "decrease"), ("largest", "smallest"), ("first", "last"), ("before", "after"),
        ("highest", "lowest"), ("most", "least"), ("more", "less"), ("maximum", "minimum"),
        ("advantages", "disadvantages"), ("north", "south"), ("east", "west"),
        ("activate", "deactivate"), ("open", "close"), ("enable", "disable"), ("with", "without"),
    ),
    "pt": (
        ("aumento", "redução"), ("maior", "menor"), ("maiores", "menores"), ("antes", "depois"),
        ("primeiro", "último"), ("mais", "menos"), ("máximo", "mínimo"), ("norte", "sul"),
        ("vantagens", "desvantagens"), ("leste", "oeste"), ("com", "sem"),
    ),
}  # fmt: skip
_POLITE = {
    "en": ("please tell me, {}", "{} please", "hi, {}", "can you tell me: {}", "{} thanks"),
    "pt": ("por favor, {}", "{} por favor", "olá, {}", "você pode me dizer: {}", "{} obrigado"),
}
_SWAPS = {
    "en": (
        (r"\bwhat is\b", "what's"), (r"\bwhat's\b", "what is"), (r"\bi am\b", "i'm"),
        (r"\bdo not\b", "don't"), (r"\bcan't\b", "cannot"), (r"\bwhat are the\b", "which are the"),
        (r"\b(?:the|a|an) ", ""), (r"\bmy\b", "the"), (r"\bwhich\b", "what"),
    ),
    "pt": (
        (r"\bo que é\b", "o que seria"), (r"\bqual é\b", "qual"), (r"\bqual\b", "qual é"),
        (r"\bquais são\b", "quais"), (r"\b(?:o|a|os|as) ", ""), (r"\bpara\b", "pra"),
    ),
}  # fmt: skip


def made(
    questions: Sequence[str], language: str, entities: Mapping[str, str], random: Random
) -> dict[str, Changed]:
    """By family. entities: what a question is about, where its capitals are not all to go by."""
    names = sorted({*entities.values()} or {name for text in questions for name in _names(text)})
    numbers = sorted({number for text in questions for number in _NUMBER.findall(text)})
    return {
        "number": _changed(questions, lambda text: _other_number(text, numbers, random)),
        "negation": _changed(questions, lambda text: _negated(text, language)),
        "opposite": _changed(questions, lambda text: _opposite(text, language)),
        "entity": _changed(
            questions, lambda text: _other_name(text, entities.get(text), names, random)
        ),
        "wording": _changed(questions, lambda text: _reworded(text, language, random)),
    }


def _changed(questions: Sequence[str], change: Callable[[str], str]) -> Changed:
    pairs = ((text, change(text)) for text in questions)
    return [(text, other) for text, other in pairs if _plain(text) != _plain(other)]


def _other_number(text: str, numbers: Sequence[str], random: Random) -> str:
    matches = list(_NUMBER.finditer(text))
    if not matches:
        return text
    match = random.choice(matches)
    alike = [candidate for candidate in numbers if len(candidate) == len(match[0])] or numbers
    return text[: match.start()] + random.choice(alike) + text[match.end() :]


def _negated(text: str, language: str) -> str:
    return _VERB[language].sub(_NEGATED[language], text, count=1)


def _opposite(text: str, language: str) -> str:
    for candidate, other in _OPPOSITES[language]:
        for word, instead in ((candidate, other), (other, candidate)):
            changed = re.sub(rf"\b{word}\b", instead, text, count=1, flags=re.IGNORECASE)
            if changed != text:
                return changed
    return text


def _other_name(text: str, focus: str | None, names: Sequence[str], random: Random) -> str:
    matches = [focus] if focus and focus in text else _names(text)
    if not matches or len(names) < 2:
        return text
    return text.replace(random.choice(matches), random.choice(names), 1)


def _names(text: str) -> list[str]:
    return _NAME.findall(text)


def _reworded(text: str, language: str, random: Random) -> str:
    """Politeness, a contraction, another mark or case: one of them, or two."""
    for pattern, instead in random.sample(_SWAPS[language], 3):
        changed = re.sub(pattern, instead, text, count=1, flags=re.IGNORECASE)
        if changed != text:
            text = changed
            break
    if random.random() < 0.5:
        text = text.rstrip("? .").lower()
    return random.choice(_POLITE[language]).format(text) if random.random() < 0.5 else text


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
