"""The prompts of the language model, which say how many words a chunk or a summary may have."""

from importlib import resources
from typing import Literal

MAX_SIZE = "{{MAX_SIZE}}"  # the placeholder


def sized_prompt(
    operation: Literal["chunking", "summary"], prompt: str | None, words_max: int
) -> str:
    """The operator's prompt, or the operation's own one, with the limit in it."""
    if prompt is None:
        file = resources.files(__package__) / f"{operation}_prompt.txt"
        prompt = file.read_text(encoding="utf-8")
    return prompt.replace(MAX_SIZE, str(words_max))
