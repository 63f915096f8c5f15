"""Settings that hold a list in one text."""


def listed(text: str | None) -> list[str]:
    """The parts of a comma-separated text, stripped, without empty parts."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]
