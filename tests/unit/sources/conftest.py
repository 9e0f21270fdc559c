"""Archives that the tests make, good ones and hostile ones."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hlteval.findings import Finding
from hlteval.sources import Source, Unreadable

Contents = Mapping[str, bytes]
Pack = Callable[[Contents], str]
Codes = Callable[[Source], set[str]]


@pytest.fixture
def zipped(tmp_path: Path) -> Pack:
    """Makes a zip archive of some files and gives its path."""

    def pack(contents: Contents) -> str:
        path = tmp_path / "run1.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in contents.items():
                archive.writestr(name, data)
        return str(path)

    return pack


@pytest.fixture
def tarred(tmp_path: Path) -> Pack:
    """Makes a gzipped tar archive of some files and gives its path."""

    def pack(contents: Contents) -> str:
        path = tmp_path / "run1.tgz"
        path.write_bytes(gzip.compress(tar(contents), mtime=0))
        return str(path)

    return pack


@pytest.fixture(params=["zip", "tgz"])
def packed(request: pytest.FixtureRequest, zipped: Pack, tarred: Pack) -> Pack:
    """Both of them, one after the other."""
    return zipped if request.param == "zip" else tarred


@pytest.fixture
def codes() -> Codes:
    """The codes of everything that is found when a source is read to its end."""

    def read(source: Source) -> set[str]:
        return {finding.code for finding in all_findings(source)}

    return read


def tar(contents: Contents) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, data in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def all_findings(source: Source) -> list[Finding]:
    findings = list(source.findings)
    for member in source.members:
        try:
            member.fetch()
        except Unreadable as reason:
            findings.append(reason.finding)
    return findings
