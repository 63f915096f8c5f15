"""How much a model's similarities count beside words, by how alike it finds what is unrelated.

Models differ in the cosine of two texts that have nothing in common: all-MiniLM-L6-v2 gives 0.05,
multilingual-e5-small 0.75, whose similarities thus differ by a quarter of what its words do. Scaled
so that unrelated texts have 0, the similarities of all models measured share best at `_SHARE`; the
embedder's `alpha` is the share of the unscaled ones that gives the same order.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_SHARE = 0.4  # measured in docs/design/embedders.md
_LIKENESS_MAX = 0.9  # of a model that finds all texts alike

Embed = Callable[[str], NDArray[np.float32]]

# One a paragraph; each is about something else than all the others.
_QUESTIONS = """\
how do I descale the coffee machine

which visa does a film crew need

when were the first railway tunnels built

what does a falling barometer mean

who pays if the parcel is lost

why do bees leave their hive

is the violin part hard to learn

how many players may be substituted
"""
_PASSAGES = """\
Bake the bread for forty minutes at 220 degrees, with a bowl of water below it, and let it
rest on a rack until it is cold.

Each employee has 25 days of leave a year. What is left in March of the next year expires,
unless the manager has agreed in writing.

The pump is started by the red switch. If it makes a noise and moves no liquid, close the
valve, fill the housing, and start it again.

Her second novel tells of two sisters who inherit a lighthouse and quarrel over a letter
that their father never sent.

The parser reads one token ahead. An unclosed bracket is reported where it was opened, and
parsing continues at the next statement.

Interest is due on the last day of each quarter, at the base rate plus two per cent, and is
added to the principal if it is not paid.

In the northern forests the lynx hunts hares by night. A female raises two or three young,
which stay with her through their first winter.

Patients with a fever of more than three days should be seen by a doctor, who listens to the
lungs and takes a sample of blood.
"""


def alpha_of(embed_query: Embed, embed_passage: Embed) -> float:
    """In hundredths, so that processors which round otherwise agree.

    Both give unit vectors. Raises what they raise.
    """
    questions = np.stack([embed_query(text) for text in _paragraphs(_QUESTIONS)])
    passages = np.stack([embed_passage(text) for text in _paragraphs(_PASSAGES)])
    likeness = min(max(0.0, float(np.mean(questions @ passages.T))), _LIKENESS_MAX)
    weight = _SHARE / (1 - likeness)
    return round(weight / (weight + 1 - _SHARE), 2)


def _paragraphs(texts: str) -> list[str]:
    return [" ".join(text.split()) for text in texts.split("\n\n")]
