"""Words that turn a question into its opposite, and those that say which way, in six languages."""

from collections import defaultdict
from collections.abc import Sequence

from cache.semantic import function_words

# By language, pairs of sides: what stands on one is the opposite of what stands on the other.
_OPPOSITES = {
    "de": "vor/nach; mehr/weniger; meist meisten/wenigsten; hoch hohe hoher hochste/niedrig "
    "niedrige niedriger niedrigste; maximal maximum/minimal minimum; aktivieren "
    "einschalten/deaktivieren ausschalten; offnen/schliessen; ein an/aus; mit/ohne; "
    "gross grosser grosste/klein kleiner kleinste; kaufen/verkaufen; alt alte/neu neue; "
    "links/rechts; ober/unter; anfang/ende",
    "en": "before/after; more/less fewer; most/least fewest; max maximum maximal/min minimum "
    "minimal; enable enabled enables enabling activate/disable disabled disables disabling "
    "deactivate; increase increases increased increasing raise/decrease decreases decreased "
    "decreasing reduce reduces reduced reducing lower; high higher highest/low lower lowest; "
    "big bigger biggest large larger largest/small smaller smallest; "
    "long longer longest/short shorter shortest; first/last final; next/previous last; "
    "early earlier earliest/late later latest; old older oldest/new newer newest; "
    "young younger youngest/old older oldest; good better best/bad worse worst; with/without; "
    "in/out; on/off; up/down; into/from; over above/under below; inside/outside; "
    "open opens opened opening/close closes closed closing; start starts started begin began "
    "beginning/stop stops stopped end ends ended finish; add adds added adding/remove removes "
    "removed removing delete; buy buying bought/sell selling sold; allow allows allowed "
    "permit/deny forbid forbidden prohibited; accept accepted/reject rejected decline declined; "
    "import imports/export exports; input/output; push/pull; upload/download; lock/unlock; "
    "install/uninstall; internal/external; upper/lower; left/right; north northern/south southern; "
    "east eastern/west western; men man male boys/women woman female girls; "
    "advantages advantage benefits pros/disadvantages disadvantage drawbacks cons; "
    "always/never; all every/none; positive/negative; true/false; hot warm/cold cool; "
    "gain gained/lose lost loss; win won/lose lost; increase/loss; success/failure; "
    "send sent/receive received; credit/debit; deposit/withdraw withdrawal; mother/father; "
    "husband/wife; arrive arrived/leave left; public/private; domestic/foreign international; "
    "fast faster fastest/slow slower slowest; rich richer/poor poorer; strong stronger/weak "
    "weaker; same/different; include includes/exclude excludes; encrypt/decrypt; "
    "connect/disconnect; legal/illegal; possible/impossible; necessary/unnecessary; "
    "offline/online; acute/chronic",
    "es": "antes/despues; mas/menos; maximo maxima/minimo minima; activar/desactivar; "
    "aumentar aumento/disminuir reducir reduccion; alto alta/bajo baja; mayor mayores/menor "
    "menores; grande grandes/pequeno pequena; primer primero primera/ultimo ultima; con/sin; "
    "abrir/cerrar; comprar/vender; mejor/peor; norte/sur; este/oeste; ventajas/desventajas; "
    "izquierda/derecha; hombre hombres/mujer mujeres; importar/exportar; dentro/fuera; "
    "sobre/bajo; nuevo/viejo",
    "fr": "avant/apres; plus/moins; maximum maximal/minimum minimal; activer/desactiver; "
    "augmenter augmentation/diminuer reduire reduction; haut haute/bas basse; "
    "grand grande/petit petite; premier premiere/dernier derniere; avec/sans; ouvrir/fermer; "
    "acheter/vendre; meilleur/pire; nord/sud; est/ouest; avantages/inconvenients; gauche/droite; "
    "homme hommes/femme femmes; dedans/dehors; sur/sous; nouveau nouvelle/ancien ancienne",
    "it": "prima/dopo; piu/meno; massimo massima/minimo minima; attivare/disattivare; "
    "aumentare aumento/diminuire ridurre riduzione; alto alta/basso bassa; maggiore/minore; "
    "grande grandi/piccolo piccola; primo/ultimo ultima; con/senza; aprire/chiudere; "
    "comprare/vendere; migliore/peggiore; nord/sud; est/ovest; vantaggi/svantaggi; "
    "sinistra/destra; uomo uomini/donna donne; dentro/fuori; sopra/sotto; nuovo/vecchio",
    "pt": "antes/depois apos; mais/menos; maximo maxima/minimo minima; ativar/desativar; "
    "habilitar/desabilitar; aumentar aumento aumenta aumentou/diminuir diminuicao reduzir reducao "
    "reduz reduziu; alto alta altos altas/baixo baixa baixos baixas; maior maiores/menor menores; "
    "grande grandes/pequeno pequena pequenos pequenas; primeiro primeira/ultimo ultima; com/sem; "
    "abrir/fechar; comprar/vender; melhor melhores/pior piores; norte/sul; leste/oeste; "
    "vantagens vantagem/desvantagens desvantagem; esquerda/direita; homem homens/mulher mulheres; "
    "dentro/fora; sobre/sob; novo nova novos novas/velho velha antigo antiga; "
    "inicio comeco/fim termino; positivo positivos positiva/negativo negativos negativa; "
    "entrada/saida; importar importacao/exportar exportacao; superior/inferior; "
    "publico publica/privado privada; quente quentes/frio fria; ganho ganhos/perda perdas",
}


# What comes after them goes another way if it changes places with something else.
_WAYS = {
    "de": ("aus", "nach", "von", "zu", "als"),
    "en": ("from", "into", "than", "to"),
    "es": ("a", "desde", "hacia", "hasta"),
    "fr": ("depuis", "vers"),
    "it": ("a", "da", "verso"),
    "pt": ("ate", "desde", "para"),
}


def directions(words: Sequence[str], language: str) -> dict[str, frozenset[str]]:
    """By word that says which way, what comes next that is no small word: to Paris, from Rome."""
    known = _WAYS.get(language, ())
    found: defaultdict[str, set[str]] = defaultdict(set)
    waiting = ""
    for word in words:
        if word in known:
            waiting = word
        elif waiting and not function_words.is_small(word, language):
            found[waiting].add(word)
            waiting = ""
    return {way: frozenset(named) for way, named in found.items()}


def antonym_sides(words: Sequence[str], language: str) -> dict[str, tuple[bool, ...]]:
    """By pair of opposites, the sides that the question names, in order, each where it begins."""
    known = _POLES.get(language, {})
    found: defaultdict[str, list[bool]] = defaultdict(list)
    for word in words:
        for axis, side in known.get(word, ()):
            if found[axis][-1:] != [side]:
                found[axis].append(side)
    return {axis: tuple(sides) for axis, sides in found.items()}


def _sides(pairs: str) -> dict[str, list[tuple[str, bool]]]:
    known: defaultdict[str, list[tuple[str, bool]]] = defaultdict(list)
    for pair in pairs.split(";"):
        for side, words in enumerate(pair.split("/")):
            for word in words.split():
                known[word].append((pair.strip(), bool(side)))
    return dict(known)


_POLES = {code: _sides(pairs) for code, pairs in _OPPOSITES.items()}
