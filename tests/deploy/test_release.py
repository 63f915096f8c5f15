import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from deploy import release

_FILES = ("nearhit-0.1.0-py3-none-any.whl", "nearhit-0.1.0.tar.gz", "nearhit-0.1.0.tgz")


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    folder = tmp_path / "dist"
    folder.mkdir()
    for name in _FILES:
        (folder / name).write_text(f"the file {name}", encoding="utf-8")
    release.sign(folder, Ed25519PrivateKey.generate(), datetime.now(UTC))
    return folder


def _verify(dist: Path, key: Path | None = None) -> None:
    release.main(["--dist", str(dist), "verify", "--key", str(key or dist / "provenance.pem")])


def test_what_was_signed_is_named(dist: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _verify(dist)
    said = capsys.readouterr().out
    assert re.search(r"of commit [0-9a-f]{40}: ", said)
    assert all(name in said for name in _FILES)


def test_a_changed_file_is_refused(dist: Path) -> None:
    (dist / _FILES[0]).write_text("another", encoding="utf-8")
    with pytest.raises(SystemExit, match="not the file that was signed"):
        _verify(dist)


def test_a_file_that_nobody_signed_is_refused(dist: Path) -> None:
    (dist / "more.whl").touch()
    with pytest.raises(SystemExit, match=r"more\.whl is not the file"):
        _verify(dist)


def test_a_missing_file_is_refused(dist: Path) -> None:
    (dist / _FILES[1]).unlink()
    with pytest.raises(SystemExit, match=f"signed and missing: {_FILES[1]}"):
        _verify(dist)


def test_another_key_is_refused(dist: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(dist, other)
    release.sign(other, Ed25519PrivateKey.generate(), datetime.now(UTC))
    with pytest.raises(SystemExit, match="not signed by this key"):
        _verify(dist, other / "provenance.pem")


def test_a_statement_that_was_edited_is_refused(dist: Path) -> None:
    statement = dist / "provenance.json"
    text = statement.read_text(encoding="utf-8")
    statement.write_text(text.replace('"payload": "', '"payload": "e30', 1), encoding="utf-8")
    with pytest.raises(SystemExit, match="not signed by this key"):
        _verify(dist)


def test_only_a_key_of_ed25519_signs(tmp_path: Path) -> None:
    private_key = generate_private_key(65537, 2048)
    file = tmp_path / "rsa.pem"
    file.write_bytes(private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(SystemExit, match="not a private key of Ed25519"):
        release.main(["--dist", str(tmp_path / "dist"), "make", "--key", str(file)])


def test_what_has_no_tag_is_not_published(dist: Path) -> None:
    with pytest.raises(SystemExit, match=r"commit them|has no tag v0\.1\.0"):
        release.main(["--dist", str(dist), "publish", "--registry", "registry.example/us"])
    with pytest.raises(SystemExit, match=r"commit them|has no tag v0\.1\.0"):
        release.main(["tagged"])  # of the clients


def test_the_package_which_no_index_takes_back_is_uploaded_last(dist: Path) -> None:
    image, chart, package = release.publishing(dist, "registry.example/us", "helm")
    assert image[:3] == ["docker", "buildx", "build"]
    assert "registry.example/us/nearhit:0.1.0" in image
    assert chart == ["helm", "push", str(dist / _FILES[2]), "oci://registry.example/us/charts"]
    assert package[2:] == ["twine", "upload", str(dist / _FILES[0]), str(dist / _FILES[1])]
