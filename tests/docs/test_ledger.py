"""tests/README.md says what proves which promise, and forgets no test of a guarantee."""

import re

from tests.docs.named_tests import ROOT

NAMED = set(re.findall(r"`((?:tests|loadtests)/[\w/.]+)`", (ROOT / "tests/README.md").read_text()))


def test_what_the_ledger_names_exists() -> None:
    assert len(NAMED) > 20
    assert [name for name in sorted(NAMED) if not (ROOT / name).exists()] == []


def test_every_test_of_a_guarantee_is_in_the_ledger() -> None:
    guarantees = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests/gateway/guarantees").glob("test_*.py")
    }

    assert guarantees - NAMED == set()
