"""How many of the turns that answer questions are found, also by questions about somebody else.

`loadtests/bench_index/conversations.py` measures the same with a public set.
"""

from pathlib import Path
from statistics import fmean

import pytest

from tests.gateway.extensions.conversations.sessions import said, write
from tests.gateway.support.gateways import Caller

pytestmark = pytest.mark.anyio

TALKS = Path(__file__).with_name("talks.txt").read_text(encoding="utf-8").split("# ")[1:]
SWAPPED = str.maketrans({"\x01": "Emil", "\x02": "Noor"})
TOP_K, BAR = 5, 0.85  # measured: 0.96, and 0.92 of the swapped; among so few turns ten find all
# By question, the beginning of the turn that answers it.
ANSWERS = {
    "What did Emil repair at home?": "Quiet. We stayed",
    "Where does the sister of Noor live?": "Well done. I went",
    "What kind of shop did the sister of Noor open?": "She opened",
    "What sells best in the shop of the sister of Noor?": "Cardamom buns",
    "What does Noor want to learn?": "I want to learn",
    "Which race did Emil sign up for?": "I signed up",
    "Who trains Emil?": "Just an app",
    "Which instrument does the daughter of Emil play?": "The bassoon. The house",
    "What broke in the house of Noor?": "The boiler broke",
    "How did Emil hurt his ankle?": "I stepped on a toy",
    "When is the first sailing lesson of Noor?": "The first lesson",
    "What is Noor afraid of?": "A little. I am afraid",
    "How old is the cat of Noor?": "Pepper sleeps",
    "What did Noor mix up in the exam?": "The theory was",
    "With whom does Noor share a boat?": "Too expensive",
    "What is the boat of Noor called?": "It is called Patience",
    "What does the new employer of Emil make?": "At a company",
    "Why did Emil leave the bank?": "The meetings",
    "What colour are the running shoes of Emil?": "Yes, with new shoes",
    "How long did Emil take for the race?": "I did it!",
    "Who played music when Emil finished?": "My daughter played",
    "What happened to Noor in the fog?": "We were caught",
    "What does Noor eat on the boat?": "Rye bread",
    "Who wants to become an apprentice?": "My nephew",
}


def swapped(question: str) -> str:
    """The same question about the other speaker."""
    return question.replace("Emil", "\x02").replace("Noor", "\x01").translate(SWAPPED)


async def recall(caller: Caller, questions: dict[str, str]) -> float:
    found = []
    for question, answer in questions.items():
        texts = await said(caller, question, top_k=TOP_K)
        found.append(any(text.partition(": ")[2].startswith(answer) for text in texts))
    return fmean(found)


async def test_questions_find_the_turns_that_answer_them_whomever_they_ask_about(
    ana: Caller,
) -> None:
    for talk in TALKS:
        day, *turns = talk.strip().split("\n")
        await write(ana, day, *turns, at=day, language="en")

    assert await recall(ana, ANSWERS) >= BAR
    assert await recall(ana, {swapped(each): turn for each, turn in ANSWERS.items()}) >= BAR
