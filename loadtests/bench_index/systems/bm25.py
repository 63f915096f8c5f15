"""BM25 with the corpus' own statistics, by bm25s."""

import bm25s
import Stemmer

from loadtests.bench_index.measures import DEPTH
from loadtests.bench_index.sets import RetrievalSet

HOW = (
    "its defaults (Lucene's BM25, k1 1.5, b 0.75) over title and text of the whole passage, words "
    "stemmed by Snowball, the language's stop words left out"
)
_SNOWBALL = {"en": "english", "pt": "portuguese"}


def rankings(retrieval_set: RetrievalSet) -> list[list[str]]:
    """The passages found for each question, best first."""
    index = bm25s.BM25()
    texts = [f"{passage.title}\n{passage.text}" for passage in retrieval_set.passages]
    index.index(_tokens(texts, retrieval_set.language), show_progress=False)
    questions = _tokens(
        [question.text for question in retrieval_set.questions], retrieval_set.language
    )
    rows_found, scores = index.retrieve(questions, k=DEPTH, show_progress=False)
    return [
        [
            retrieval_set.passages[position].passage_id
            for position, score in zip(*row, strict=True)
            if score > 0
        ]
        for row in zip(rows_found, scores, strict=True)
    ]


def _tokens(texts: list[str], language: str) -> bm25s.tokenization.Tokenized:
    stemmer = Stemmer.Stemmer(_SNOWBALL[language])
    return bm25s.tokenize(texts, stopwords=language, stemmer=stemmer, show_progress=False)
