"""Lets go of what the frames of an exception's traceback hold."""


def release(error: BaseException) -> None:
    """Drop the tracebacks of the error, and of the errors that it came from or contains.

    A frame that holds the error is held by its traceback. Such a cycle is freed by nothing but
    Python's garbage collector, which rarely runs, and so are the bodies and answers in the frames.
    """
    errors: list[BaseException | None] = [error]
    released: set[int] = set()  # of a chain that leads back to one of them
    while errors:
        current = errors.pop()
        if current is None or id(current) in released:
            continue
        released.add(id(current))
        current.__traceback__ = None
        errors += (current.__cause__, current.__context__)
        if isinstance(current, BaseExceptionGroup):
            errors += current.exceptions
