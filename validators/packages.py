"""Rules over a submission as a package of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hlteval.findings import Finding, Span, excerpt, finding
from hlteval.sources import Member, Source, Unreadable


@dataclass(frozen=True, slots=True)
class Package:
    """A submission as a package of files, beside the documents it is for.

    Attributes:
        submission: what was submitted, with all its files.
        found: its files with predictions, by document.
        reference: what it is checked against; None where the submission brings its own documents.
        expected: the files of the reference, by document.
    """

    submission: Source
    found: Mapping[str, tuple[Member, ...]]
    reference: Source | None
    expected: Mapping[str, tuple[Member, ...]]


def documents(package: Package, code: str, unread: str, suffix: str) -> Iterator[Finding]:
    """The findings about a submission with a file per document.

    Args:
        package: the submission.
        code: of a submission with files, none of which is a document.
        unread: of a file that is not read, but looks like a document.
        suffix: of the names of documents.
    """
    source = package.submission
    if source.members and not package.found:
        yield finding(code, file=source.path)
        return
    read = {member.name for members in package.found.values() for member in members}
    for member in source.members:
        if member.name not in read and (hint := _meant(member.basename, suffix)):
            yield finding(unread, file=member.display, hint=hint)


def entity_header(member: Member) -> Iterator[Finding]:
    """The finding about the header of a table of entity mentions: submissions have none.

    Args:
        member: the file of the table.
    """
    from hlteval.converters.edl.edl_tab import is_header

    try:
        head = member.fetch()[:1000].decode("utf-8", "replace")
    except Unreadable:
        return
    line = head.removeprefix("\ufeff").partition("\n")[0].rstrip("\r")
    if is_header(line):
        span = Span(1, 1, len(line) + 1)
        yield finding("EDL102", file=member.display, span=span, excerpt=excerpt(line, span))


def _meant(name: str, suffix: str) -> str:
    """What to do with a file that looks like a document but is not read; empty for other files.

    Examples:
        >>> _meant("D1.LTF.XML", ".ltf.xml"), _meant("D1.laf.xml", ".ltf.xml")
        ('rename it to D1.ltf.xml, with a lower-case suffix', '')
    """
    lower = name.lower()
    packed = next((end for end in _PACKED if lower.endswith(end)), "")
    bare = lower.removesuffix(packed)
    kind = suffix.split(".")[1]
    if bare.endswith(suffix) and packed:
        return f"unpack it to {name[: len(bare)]}"
    if bare.endswith(suffix):
        return f"rename it to {name[: -len(suffix)]}{suffix}, with a lower-case suffix"
    other = any(f".{each}." in f"{bare}." for each in _KINDS if each != kind)
    if f".{kind}." in f"{bare}." or (bare.endswith(".xml") and not other):
        stem = name.partition(".")[0]
        return f"rename it to {stem}{suffix} if it is a document, or remove it"
    return ""


_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".tgz")
#: Kinds of files of language packs, as their suffixes name them.
_KINDS = ("ltf", "laf", "psm", "rsd")
