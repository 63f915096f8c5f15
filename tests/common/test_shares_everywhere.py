"""Whatever tenants wait for or displace each other from has shares; exceptions have a reason."""

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pytest

from tests.common.unshared import UNSHARED

ROOT = Path(__file__).parents[2]
PACKAGES = ("gateway", "cache", "index", "ingest", "common")
SHARES = "common/shares/"
# Each makes callers wait in one queue, or evicts the entries of one for those of another.
NAMES = frozenset({
    "to_thread", "run_in_executor", "run_in_threadpool", "set_default_executor",
    "ThreadPoolExecutor", "ProcessPoolExecutor", "ThreadPool",
    "Semaphore", "BoundedSemaphore", "CapacityLimiter", "Queue", "LifoQueue", "PriorityQueue",
    "LRUCache", "TTLCache", "LFUCache", "TLRUCache", "FIFOCache", "RRCache", "OrderedDict",
})  # fmt: skip
MODULES = frozenset({
    "asyncio", "threading", "queue", "multiprocessing", "multiprocessing.pool", "anyio",
    "collections", "concurrent.futures", "cachetools", "starlette.concurrency",
})  # fmt: skip


def uses(tree: ast.AST) -> Iterator[str]:
    """The names that the code refers to, other than in imports and in annotations."""
    match tree:
        case ast.Attribute(attr=name) if name in NAMES and is_module(tree.value):
            yield name
        case ast.Attribute(attr="run_in_executor" | "set_default_executor" as name):
            yield name  # of any loop
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
            yield name
    for field, value in ast.iter_fields(tree):
        if field not in {"annotation", "returns"}:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from uses(child)


def is_module(node: ast.expr) -> bool:
    return ast.unparse(node) in MODULES


def renamed(tree: ast.AST) -> Iterator[str]:
    """The names that are imported under another one, which `uses` would miss."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            for alias in node.names:
                is_one = alias.name in (NAMES if module in MODULES else MODULES)
                if alias.asname is not None and is_one:
                    yield alias.name


@pytest.fixture(scope="module")
def files() -> Sequence[tuple[str, str]]:
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    named = ((path.relative_to(ROOT).as_posix(), path) for path in paths)
    return [
        (name, path.read_text(encoding="utf-8"))
        for name, path in named
        if not name.startswith(SHARES)
    ]


def parsed(
    files: Sequence[tuple[str, str]], words: Collection[str]
) -> Iterator[tuple[str, ast.AST]]:
    """The files that have one of the words: to parse all of them takes seconds."""
    for name, code in files:
        if any(word in code for word in words):
            yield name, ast.parse(code)


@pytest.mark.slow
def test_no_queue_pool_or_cache_is_without_shares_or_a_reason(
    files: Sequence[tuple[str, str]],
) -> None:
    found = Counter((name, use) for name, tree in parsed(files, NAMES) for use in uses(tree))

    unlisted = {place: count for place, count in found.items() if place not in UNSHARED}
    outdated = {
        place: f"{found[place]} in the code, {count} on the list"
        for place, (count, _) in UNSHARED.items()
        if found[place] != count
    }

    assert not unlisted, "use common/shares, or give a reason in tests/common/unshared.py"
    assert not outdated, "correct tests/common/unshared.py"


@pytest.mark.slow
def test_none_is_imported_under_another_name(files: Sequence[tuple[str, str]]) -> None:
    renaming = [f"{name} as " for name in NAMES | MODULES]

    assert not [(name, other) for name, tree in parsed(files, renaming) for other in renamed(tree)]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("await asyncio.to_thread(work)", ["to_thread"]),
        ("partial(to_thread, work)", ["to_thread"]),
        ("loop.run_in_executor(None, work)", ["run_in_executor"]),
        ("asyncio.get_running_loop().run_in_executor(None, work)", ["run_in_executor"]),
        ("field(default_factory=asyncio.Queue)", ["Queue"]),
        ("cache: LRUCache[str, int] = LRUCache(8)", ["LRUCache"]),
        ("def f(pool: ThreadPoolExecutor) -> asyncio.Queue[int]: ...", []),
        ("Queue = Annotated[str, None]", []),
    ],
)
def test_a_use_is_found_wherever_it_is(code: str, found: list[str]) -> None:
    assert [*uses(ast.parse(code))] == found
