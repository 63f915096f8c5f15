"""The small words of a question that turn its answer, in six languages.

Words are as the index compares them: without accents and case, parted at apostrophes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

_SMALL = {
    "de": "der die das den dem ein eine einen einer ist sind war wird werden wie und oder nicht "
    "fur mit von zu im auf ich wir wo wann welche welcher welches warum wer kann bei aus es sich",
    "en": "the of is are was were what which who how does did do and or for with from by to in on "
    "when where why can not i my you your it be this that has have there should would",
    "es": "el la los las un una es son fue que cual cuales como quien donde cuando por para con "
    "del de en y o no se su hay esta al mi puedo cuanto",
    "fr": "le la les un une des du de est sont que quel quelle quels quelles comment qui ou quand "
    "pour avec dans et au aux sur je mon il elle pas ce cette d l puis combien pourquoi en",
    "it": "il lo la o gli le un una e sono che quale quali come chi dove quando per con della "
    "dei di da nel nella si non mi al posso quanto perche",
    "pt": "o a os as ou um uma e sao foi que qual quais como quem onde quando por para com de do "
    "da dos das em no na nos nas se nao ao meu minha posso eu quanto seu sua pelo pela",
}

_ASKS = {
    "de": {
        "thing": "was welche welcher welches welchen welchem",
        "person": "wer wen wem wessen",
        "time": "wann",
        "place": "wo wohin woher",
        "reason": "warum wieso weshalb",
        "manner": "wie",
        "quantity": "wieviel wieviele",
    },
    "en": {
        "thing": "what which",
        "person": "who whom whose",
        "time": "when",
        "place": "where",
        "reason": "why",
        "manner": "how",
    },
    "es": {
        "thing": "que cual cuales",
        "person": "quien quienes",
        "time": "cuando",
        "place": "donde adonde",
        "manner": "como",
        "quantity": "cuanto cuanta cuantos cuantas",
    },
    "fr": {
        "thing": "que quoi quel quelle quels quelles qu",
        "person": "qui",
        "time": "quand",
        "reason": "pourquoi",
        "manner": "comment",
        "quantity": "combien",
    },
    "it": {
        "thing": "che cosa quale quali",
        "person": "chi",
        "time": "quando",
        "place": "dove",
        "reason": "perche",
        "manner": "come",
        "quantity": "quanto quanta quanti quante",
    },
    "pt": {
        "thing": "que qual quais",
        "person": "quem",
        "time": "quando",
        "place": "onde aonde",
        "reason": "porque",
        "manner": "como",
        "quantity": "quanto quanta quantos quantas",
    },
}
# What two words ask together: how many is no manner, what year no thing.
_ASKS_WITH = {
    "de": {"quantity": "wie: viel viele vielen lange oft alt weit gross hoch schnell"},
    "en": {
        "quantity": "how: many much long often old far big large tall high deep fast wide heavy",
        "time": "what which: year date day month time century decade",
        "place": "what which: city country place state town region location",
        "reason": "what: reason; how: come",
        "person": "what which: person",
    },
    "es": {
        "time": "que: ano fecha dia mes hora siglo",
        "reason": "por: que",
        "place": "que: ciudad pais lugar",
    },
    "fr": {
        "time": "quelle quel: annee date jour mois heure siecle",
        "place": "quelle quel: ville pays lieu",
    },
    "it": {"time": "che quale: anno data giorno mese ora secolo"},
    "pt": {
        "time": "que qual: ano data dia mes hora seculo",
        "reason": "por: que",
        "place": "que qual: cidade pais lugar",
    },
}
_ABOUT_PLACE = {"fr": "ou"}  # or, if it doesn't begin the question

_NEGATIONS = {
    "de": {
        "not": "nicht kein keine keinen keiner keinem keines nie niemals nichts niemand",
        "without": "ohne",
        "except": "ausser ausgenommen",
    },
    "en": {
        "not": "not no never cannot neither nor none nobody nothing dont cant wont doesnt isnt "
        "didnt arent wasnt couldnt shouldnt wouldnt hasnt havent unable",
        "without": "without",
        "except": "except excluding",
    },
    "es": {
        "not": "no nunca jamas ni ningun ninguna ninguno nada nadie",
        "without": "sin",
        "except": "excepto salvo",
    },
    "fr": {
        "not": "pas jamais aucun aucune ni rien personne",
        "without": "sans",
        "except": "sauf excepte",
    },
    "it": {
        "not": "non mai nessun nessuno nessuna ne niente nulla",
        "without": "senza",
        "except": "tranne eccetto",
    },
    "pt": {
        "not": "nao nunca jamais nem nenhum nenhuma nada ninguem",
        "without": "sem",
        "except": "exceto salvo",
    },
}
_CONTRACTED = (  # before the t of don't
    *("don", "doesn", "didn", "isn", "aren", "wasn", "weren", "can", "couldn", "won", "wouldn"),
    *("shouldn", "hasn", "haven", "hadn", "mustn"),
)

_NUMBERS = {
    "de": "null:0 zwei:2 drei:3 vier:4 funf:5 sechs:6 sieben:7 acht:8 neun:9 zehn:10 elf:11 "
    "zwolf:12 zwanzig:20 dreissig:30 hundert:100 tausend:1000 million:1e6 millionen:1e6 "
    "milliarde:1e9 milliarden:1e9 erste:1 ersten:1 erster:1 zweite:2 zweiten:2 dritte:3 "
    "dritten:3 doppelt:2",
    "en": "zero:0 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 "
    "twelve:12 thirteen:13 fourteen:14 fifteen:15 sixteen:16 seventeen:17 eighteen:18 nineteen:19 "
    "twenty:20 thirty:30 forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90 hundred:100 "
    "thousand:1000 million:1e6 millions:1e6 billion:1e9 billions:1e9 trillion:1e12 dozen:12 "
    "first:1 second:2 third:3 fourth:4 fifth:5 sixth:6 seventh:7 eighth:8 ninth:9 tenth:10 "
    "once:1 twice:2 double:2 triple:3 half:0.5 quarter:0.25 both:2",
    "es": "cero:0 dos:2 tres:3 cuatro:4 cinco:5 seis:6 siete:7 ocho:8 nueve:9 diez:10 once:11 "
    "doce:12 veinte:20 treinta:30 cuarenta:40 cincuenta:50 cien:100 ciento:100 mil:1000 "
    "millon:1e6 millones:1e6 primer:1 primero:1 primera:1 segundo:2 segunda:2 tercero:3 tercera:3 "
    "doble:2 mitad:0.5",
    "fr": "zero:0 deux:2 trois:3 quatre:4 cinq:5 six:6 sept:7 huit:8 neuf:9 dix:10 onze:11 "
    "douze:12 quinze:15 vingt:20 trente:30 quarante:40 cinquante:50 cent:100 cents:100 mille:1000 "
    "million:1e6 millions:1e6 milliard:1e9 milliards:1e9 premier:1 premiere:1 deuxieme:2 second:2 "
    "seconde:2 troisieme:3 double:2 moitie:0.5",
    "it": "zero:0 due:2 tre:3 quattro:4 cinque:5 sei:6 sette:7 otto:8 nove:9 dieci:10 undici:11 "
    "dodici:12 venti:20 trenta:30 quaranta:40 cinquanta:50 cento:100 mille:1000 mila:1000 "
    "milione:1e6 milioni:1e6 miliardo:1e9 miliardi:1e9 primo:1 prima:1 secondo:2 seconda:2 "
    "terzo:3 terza:3 doppio:2 meta:0.5",
    "pt": "zero:0 dois:2 duas:2 tres:3 quatro:4 cinco:5 seis:6 sete:7 oito:8 nove:9 dez:10 onze:11 "
    "doze:12 quinze:15 vinte:20 trinta:30 quarenta:40 cinquenta:50 cem:100 cento:100 mil:1000 "
    "milhao:1e6 milhoes:1e6 bilhao:1e9 bilhoes:1e9 primeiro:1 primeira:1 segundo:2 segunda:2 "
    "terceiro:3 terceira:3 quarto:4 quarta:4 dobro:2 metade:0.5 ambos:2 ambas:2",
}

_UNITS = (
    "second seconds segundos secondes sekunden secondi",
    "minute minutes minuto minutos minuten minuti",
    "hour hours hora horas heure heures stunde stunden ora ore",
    "day days dia dias jour jours tag tage tagen giorno giorni",
    "week weeks semana semanas semaine semaines woche wochen settimana settimane",
    "month months mes meses mois monat monate monaten mese mesi",
    "year years ano anos ans annee annees jahr jahre jahren anno anni",
    "dollar dollars dolar dolares",
    "euro euros",
    "percent porcento prozent percentage",
    "kilometer kilometers kilometre kilometres quilometro quilometros kilometro kilometros",
    "mile miles milha milhas milla millas",
)

_MONTHS = {
    "de": "januar februar marz april mai juni juli august september oktober november dezember",
    "en": "january february march april may june july august september october november december",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre",
    "fr": "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
    "dicembre",
    "pt": "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro "
    "dezembro",
}
_DAYS = {  # of the week from Monday on, then yesterday, today, tomorrow
    "de": "montag dienstag mittwoch donnerstag freitag samstag sonntag gestern heute morgen",
    "en": "monday tuesday wednesday thursday friday saturday sunday yesterday today tomorrow",
    "es": "lunes martes miercoles jueves viernes sabado domingo ayer hoy manana",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche hier aujourd demain",
    "it": "lunedi martedi mercoledi giovedi venerdi sabato domenica ieri oggi domani",
    "pt": "segunda terca quarta quinta sexta sabado domingo ontem hoje amanha",
}
_BEFORE_A_MONTH = ("in", "since", "until", "of", "by", "last", "next", "during", "on", "late")
_ALSO_VERBS = ("may", "march")

_COURTESIES = {
    "de": "bitte danke hallo",
    "en": "please thanks thank hi hello hey kindly",
    "es": "favor gracias hola",
    "fr": "merci bonjour salut",
    "it": "favore grazie ciao",
    "pt": "favor obrigado obrigada ola oi",
}


def language(words: Sequence[str]) -> str:
    """The language most of whose small words are here; empty if two are alike, or there is none."""
    spoken = Counter(code for word in words for code in _SPEAKS.get(word, ()))
    (first, most), (_, next_most) = [*spoken.most_common(2), ("", 0), ("", 0)][:2]
    return first if most > next_most else ""


def is_small(word: str, language: str) -> bool:
    """Whether it is one of the language's commonest words, which name nothing."""
    return language in _SPEAKS.get(word, ())


def asks(words: Sequence[str], language: str) -> str:
    """What the first word that asks, asks for; `thing` if none does."""
    alone, together = _ALONE.get(language, {}), _TOGETHER.get(language, {})
    for word, following in pairwise((*words, "")):
        if kind := together.get((word, following)) or alone.get(word):
            return kind
    return "place" if words and words[0] == _ABOUT_PLACE.get(language) else "thing"


def numbers(words: Sequence[str], language: str) -> list[str]:
    """Those in words, as plain digits; of one nobody can tell whether it is a number."""
    known = _NUMBER_WORDS.get(language, {})
    return [known[word] for word in words if word in known]


def units(words: Sequence[str]) -> frozenset[str]:
    return frozenset(_UNIT_WORDS[word] for word in words if word in _UNIT_WORDS)


def dates(words: Sequence[str], language: str) -> frozenset[str]:
    """Months, days of the week, and days as seen from today."""
    known = _DATE_WORDS.get(language, {})
    return frozenset(
        known[word]
        for before, word, after in zip(("", *words), words, (*words[1:], ""), strict=False)
        if word in known and (word not in _ALSO_VERBS or _beside_a_date(before, after))
    )


def negations(words: Sequence[str], language: str) -> tuple[str, ...]:
    """How the question denies, each time: not, without, except; what is denied is not told."""
    known = _NEGATION_WORDS.get(language, {})
    found = [known[word] for word in words if word in known]
    if language == "en":
        found += ["not" for one, next_one in pairwise(words) if _is_contracted(one, next_one)]
    return tuple(sorted(found))


def strip_function_words(language: str) -> frozenset[str]:
    """Words that ask for nothing, and numbers, which are compared as such."""
    return _APART.get(language, frozenset())


def _is_contracted(word: str, following: str) -> bool:
    return following == "t" and word in _CONTRACTED


def _beside_a_date(before: str, after: str) -> bool:
    return before in _BEFORE_A_MONTH or before.isdigit() or after.isdigit()


def _by_word(kinds: Mapping[str, str]) -> dict[str, str]:
    return {word: kind for kind, words in kinds.items() for word in words.split()}


def _pairs(kinds: Mapping[str, str]) -> dict[tuple[str, str], str]:
    return {
        (first, second): kind
        for kind, lines in kinds.items()
        for line in lines.split(";")
        for first in line.split(":")[0].split()
        for second in line.split(":")[1].split()
    }


def _plain_number(number: str) -> str:
    return f"{float(number):.0f}" if "e" in number else number


_SPEAKS: Mapping[str, Sequence[str]] = {
    word: [code for code, words in _SMALL.items() if word in words.split()]
    for words in _SMALL.values()
    for word in words.split()
}
_ALONE = {code: _by_word(kinds) for code, kinds in _ASKS.items()}
_TOGETHER = {code: _pairs(kinds) for code, kinds in _ASKS_WITH.items()}
_NEGATION_WORDS = {code: _by_word(kinds) for code, kinds in _NEGATIONS.items()}
_NUMBER_WORDS = {
    code: {
        word: _plain_number(number) for word, number in (each.split(":") for each in known.split())
    }
    for code, known in _NUMBERS.items()
}
_UNIT_WORDS = {word: words.split()[0] for words in _UNITS for word in words.split()}
_DATE_WORDS = {
    code: {
        word: f"{kind}{number}"
        for kind, table in (("month", _MONTHS), ("day", _DAYS))
        for number, word in enumerate(table[code].split(), 1)
    }
    for code in _MONTHS
}
_APART = {
    code: frozenset(words.split()) | _NUMBER_WORDS[code].keys()
    for code, words in _COURTESIES.items()
}
