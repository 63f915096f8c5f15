"""What a release consists of, made in `dist`, signed, checked and published.

    python -m deploy.release make [--key FILE] [--helm PROGRAM]
    python -m deploy.release verify --key FILE
    python -m deploy.release publish --registry HOST/NAME [--helm PROGRAM]
    python -m deploy.release tagged

`make` builds the package, the bill of materials of its installation (CycloneDX) and the chart, and
states in `provenance.json` (SLSA provenance in a DSSE envelope) of which commit they are made. The
key is a private one of Ed25519 in PEM, as `openssl genpkey -algorithm ed25519` makes it; without it
a new one signs, for a rehearsal. `verify` takes the public one. `publish` uploads what `make` made
of the commit that is checked out and tagged, with the accounts that twine, Helm and Docker are
logged into. `tagged` only checks that it is, for the packages of the clients.
"""

import argparse
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import venv
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

ROOT = Path(__file__).parents[1]
_CHART = "deploy/helm/nearhit"
_PROVENANCE, _PUBLIC_KEY = "provenance.json", "provenance.pem"
_PAYLOAD_TYPE = "application/vnd.in-toto+json"
_STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
_PREDICATE_TYPE = "https://slsa.dev/provenance/v1"
_BUILD_TYPE = "https://packaging.python.org/en/latest/specifications/pyproject-toml/"


class ReleaseRefused(Exception):
    """The release is not what it claims to be; the message says what to do."""


def main(words: Sequence[str] | None = None) -> None:
    arguments = _arguments(words)
    dist: Path = arguments.dist
    try:
        if arguments.command == "make":
            make(dist, arguments.key, arguments.helm)
        elif arguments.command == "verify":
            verify(dist, _public_key(arguments.key))
        elif arguments.command == "tagged":
            require_tag()
        else:
            publish(dist, arguments.registry, arguments.helm)
    except ReleaseRefused as error:
        raise SystemExit(f"refused: {error}") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"exit code {error.returncode} of: {shlex.join(error.cmd)}") from None


def make(dist: Path, key: Path | None, helm: str) -> None:
    """Replace what is in the folder by the files of a release."""
    private_key = _private_key(key)
    if dist.exists():
        shutil.rmtree(dist)
    started = datetime.now(UTC)
    _, seconds = _commit()
    os.environ["SOURCE_DATE_EPOCH"] = seconds  # equal commits give equal packages
    _python("build", "--no-isolation", "--outdir", str(dist))
    _python("twine", "check", "--strict", *_packages(dist))
    _write_bill_of_materials(dist)
    _run(helm, "package", _CHART, "--destination", str(dist))
    sign(dist, private_key, started)
    verify(dist, _public_key(dist / _PUBLIC_KEY))


def sign(dist: Path, private_key: Ed25519PrivateKey, started: datetime) -> None:
    """Write the public key and the signed statement of all files in the folder."""
    public = private_key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (dist / _PUBLIC_KEY).write_bytes(public)
    statement = _provenance(_digests(dist), started)
    envelope = Envelope(json.dumps(statement).encode(), _PAYLOAD_TYPE, {})
    envelope.sign(CryptoSigner(private_key))
    (dist / _PROVENANCE).write_text(json.dumps(envelope.to_dict()), encoding="utf-8")


def verify(dist: Path, public_key: SSlibKey) -> None:
    """Raises `ReleaseRefused` if a file is not the one that was signed."""
    try:
        envelope = Envelope.from_dict(json.loads((dist / _PROVENANCE).read_bytes()))
        envelope.verify([public_key], threshold=1)
    except (ValueError, VerificationError) as error:
        raise ReleaseRefused(f"{_PROVENANCE} is not signed by this key") from error
    statement = json.loads(envelope.payload)
    signed = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    for name, digest in _digests(dist).items():
        if signed.pop(name, None) != digest:
            raise ReleaseRefused(f"{name} is not the file that was signed")
    if signed:
        raise ReleaseRefused(f"signed and missing: {', '.join(signed)}")
    commit = _commit_of(statement)
    print(f"signed, of commit {commit}: {', '.join(_digests(dist))}")


def publish(dist: Path, registry: str, helm: str) -> None:
    """Upload the release. Raises `ReleaseRefused` if it is not of the tagged, clean checkout."""
    verify(dist, _public_key(dist / _PUBLIC_KEY))
    envelope = Envelope.from_dict(json.loads((dist / _PROVENANCE).read_bytes()))
    commit, _ = _commit()
    if _commit_of(json.loads(envelope.payload)) != commit:
        raise ReleaseRefused("the files are of another commit: run `make package` again")
    require_tag()
    for command in publishing(dist, registry, helm):
        _run(*command)


def require_tag() -> None:
    """Raises `ReleaseRefused` if the checkout is changed, or not tagged with the version."""
    tag = f"v{_version()}"
    if _output("git", "status", "--porcelain"):
        raise ReleaseRefused("the checkout has changes: commit them")
    if tag not in _output("git", "tag", "--points-at", "HEAD").split():
        raise ReleaseRefused(f"the commit has no tag {tag}: git tag --sign {tag}")


def publishing(dist: Path, registry: str, helm: str) -> list[list[str]]:
    """The commands that upload, in order. What can't be taken back comes last."""
    (chart,) = map(str, dist.glob("nearhit-*.tgz"))
    image = f"{registry}/nearhit:{_version()}"
    attested = ("--sbom=true", "--provenance=mode=max")
    return [
        ["docker", "buildx", "build", *attested, "--tag", image, "--push", "."],
        [helm, "push", chart, f"oci://{registry}/charts"],
        [sys.executable, "-m", "twine", "upload", *_packages(dist)],
    ]


def _packages(dist: Path) -> list[str]:
    return sorted(map(str, [*dist.glob("*.whl"), *dist.glob("*.tar.gz")]))


def _write_bill_of_materials(dist: Path) -> None:
    """Of the package, and of all that `pip install` installs with it here: which needs which."""
    (wheel,) = map(str, dist.glob("*.whl"))
    options = ("--quiet", "--dry-run", "--ignore-installed", "--constraint", "constraints.txt")
    report = _output(sys.executable, "-m", "pip", "install", *options, "--report", "-", wheel)
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, symlinks=True)
        packages = Path(sysconfig.get_path("purelib", vars={"base": folder}))
        for one in json.loads(report)["install"]:
            if not one["is_direct"]:
                _describe(one["metadata"], packages)
        _run(  # a graph with a gap is a warning
            *(sys.executable, "-W", "error::UserWarning", "-m", "cyclonedx_py", "environment"),
            *("--output-reproducible", "--short-PURLs"),
            *("--pyproject", "pyproject.toml", "--output-file", str(dist / "nearhit.cdx.json")),
            f"{folder}/bin/python",
        )


def _describe(metadata: Mapping[str, Any], packages: Path) -> None:
    """Make the package look installed, without its files."""
    fields = {
        "Metadata-Version": [metadata["metadata_version"]],
        "Name": [metadata["name"]],
        "Version": [metadata["version"]],
        "License-Expression": [metadata.get("license_expression")],
        "Classifier": metadata.get("classifier", []),
        "Requires-Dist": metadata.get("requires_dist", []),
    }
    folder = packages / f"{metadata['name']}-{metadata['version']}.dist-info"
    folder.mkdir()
    lines = [f"{name}: {text}" for name, texts in fields.items() for text in texts if text]
    (folder / "METADATA").write_text("\n".join(lines), encoding="utf-8")


def _provenance(digests: Mapping[str, str], started: datetime) -> dict[str, object]:
    commit, _ = _commit()
    return {
        "_type": _STATEMENT_TYPE,
        "subject": [
            {"name": name, "digest": {"sha256": digest}} for name, digest in digests.items()
        ],
        "predicateType": _PREDICATE_TYPE,
        "predicate": {
            "buildDefinition": {
                "buildType": _BUILD_TYPE,
                "externalParameters": {"command": "make package", "version": _version()},
                "resolvedDependencies": [{"name": "nearhit", "digest": {"gitCommit": commit}}],
            },
            "runDetails": {
                "builder": {"id": "maintainer", "version": {"python": sys.version.split()[0]}},
                "metadata": {
                    "startedOn": started.isoformat(timespec="seconds"),
                    "finishedOn": datetime.now(UTC).isoformat(timespec="seconds"),
                },
            },
        },
    }


def _commit() -> tuple[str, str]:
    """The commit that is checked out, and its time in seconds; zeros outside of a checkout.

    Only a rehearsal may be outside, as `publish` needs the tag of the commit.
    """
    try:
        commit, seconds = _output("git", "log", "-1", "--format=%H %ct").split()
    except subprocess.CalledProcessError:
        return "0" * 40, "315532800"  # the earliest time that a wheel can hold
    return commit, seconds


def _commit_of(statement: Any) -> str:
    (source,) = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    commit: str = source["digest"]["gitCommit"]
    return commit


def _digests(dist: Path) -> dict[str, str]:
    """SHA-256 of each file but the statement itself, by name."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(dist.iterdir())
        if path.name != _PROVENANCE
    }


def _private_key(file: Path | None) -> Ed25519PrivateKey:
    if file is None:
        print("signed by a key made for this rehearsal; `--key FILE` names your own", flush=True)
        return Ed25519PrivateKey.generate()
    private_key = load_pem_private_key(file.read_bytes(), password=None)
    if not isinstance(private_key, Ed25519PrivateKey):
        raise ReleaseRefused(f"{file} is not a private key of Ed25519")
    return private_key


def _public_key(file: Path) -> SSlibKey:
    return SSlibKey.from_crypto(load_pem_public_key(file.read_bytes()))


def _version() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version: str = project["version"]
    return version


def _python(module: str, *arguments: str) -> None:
    _run(sys.executable, "-m", module, *arguments)


def _run(*command: str) -> None:
    print(f"$ {shlex.join(command)}", flush=True)
    subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603


def _output(*command: str) -> str:
    return subprocess.check_output(command, cwd=ROOT, text=True)  # noqa: S603


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m deploy.release",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="the folder")
    commands = parser.add_subparsers(dest="command", required=True)
    making, verifying, uploading = (commands.add_parser(n) for n in ("make", "verify", "publish"))
    commands.add_parser("tagged")
    making.add_argument("--key", type=Path, help="a private key of Ed25519, PEM")
    verifying.add_argument("--key", type=Path, required=True, help="the public key, PEM")
    uploading.add_argument("--registry", required=True, help="such as ghcr.io/you")
    for one in (making, uploading):
        one.add_argument("--helm", default="helm", help="the program")
    return parser.parse_args(words)


if __name__ == "__main__":
    main()
