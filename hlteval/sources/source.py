"""Sources: paths of the command line as lists of members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from hlteval.findings import MAX_PER_CODE, Finding
from hlteval.sources.decoding import check_encoding

if TYPE_CHECKING:
    from hlteval.representation import Corpus


#: Gives up to so many bytes at an offset, fewer only at the end; may raise `Unreadable`.
ReadAt = Callable[[int, int], bytes]


class Member(msgspec.Struct, frozen=True, eq=False):
    """One file of a source; there may be tens of thousands.

    Attributes:
        name: path inside the source, with `/`; empty if the source is a single file.
        display: name in findings.
        size: size in bytes; None in a folder, where looking it up takes as long as reading.
        fetch: function that returns the bytes, as often as it is called; raises `Unreadable`;
            if it has a method `read` as `ReadAt`, they need not all be read.
        encoding: encoding of the text.
        qualified: whether the folder is part of the name of the document, since files of other
            folders have the same name.
        max_per_code: maximum number of findings of a code in it that are explained; 0 for all.
    """

    name: str
    display: str
    size: int | None
    fetch: Callable[[], bytes]
    encoding: str = "utf-8"
    qualified: bool = False
    max_per_code: int = MAX_PER_CODE

    @property
    def basename(self) -> str:
        """The name without its folders.

        Examples:
            >>> Member("out/d1.a2", "x.zip/out/d1.a2", 0, bytes).basename
            'd1.a2'
        """
        return (self.name or self.display).rpartition("/")[2]

    def reader(self) -> ReadAt:
        """Return what reads from any offset; what is in an archive or at a URL is fetched here.

        Raises:
            Unreadable: if it is fetched, and cannot be.

        Examples:
            >>> Member("d1.a2", "d1.a2", 2, lambda: b"E1").reader()(1, 5)
            b'1'
        """
        read: ReadAt | None = getattr(self.fetch, "read", None)
        if read is not None:
            return read
        content = self.fetch()
        return lambda offset, size: content[offset : offset + size]

    def document(self, name: str) -> str:
        """The name of a document of the file: its own, after the folder if the file is qualified.

        Examples:
            >>> Member("a/d1.txt", "x.zip/a/d1.txt", 0, bytes, qualified=True).document("d1")
            'a/d1'
        """
        if not self.qualified:
            return name
        folder = self.name.rpartition("/")[0]
        return name if not folder or name.startswith(f"{folder}/") else f"{folder}/{name}"


class Listed(msgspec.Struct, frozen=True):
    """A file or anything else in the list of an archive, which need not be read.

    Attributes:
        name: its name, printable.
        type: `file`, `folder`, or any other type in words.
        size: unpacked size in bytes, as the archive states it.
    """

    name: str
    type: str
    size: int


class Unreadable(Exception):
    """A member cannot be read; `finding` is the reason. Readers catch it and continue."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


class TooManyFiles(ValueError):
    """Documents need more files than a folder that can be read has: see `Limits.files`."""

    def __init__(self) -> None:
        super().__init__(f"more than {LIMITS.files:,} files in a folder: use another format")


@dataclass(frozen=True, slots=True)
class Source:
    """A folder, a file, an archive, standard input, or a corpus in memory.

    Attributes:
        path: path as written by the user, or a name in angle brackets for what has none.
        kind: `folder`, `file`, `zip`, `tgz`, `stdin` for a stream without a name, or `memory`.
        members: the files, sorted by name; none of a corpus in memory.
        findings: problems of the source as a whole.
        corpus: the corpus, if it is in memory.
        of_corpus: problems of the rows of a saved corpus, which is in memory.
        saved: the file of a saved corpus that is read in parts: only its sources and the names of
            its documents are in memory.
        max_per_code: as for each of its members.
        listing: gives all that the list of an archive names, also if the archive is rejected;
            nothing where there is no list, or where it is damaged.
    """

    path: str
    kind: str
    members: tuple[Member, ...]
    findings: tuple[Finding, ...] = ()
    corpus: Corpus | None = field(default=None, repr=False, compare=False)
    of_corpus: tuple[Finding, ...] = ()
    saved: Member | None = None
    max_per_code: int = MAX_PER_CODE
    listing: Callable[[], tuple[Listed, ...]] = field(default=tuple, repr=False, compare=False)

    @property
    def has_name(self) -> bool:
        """Whether it has a name that its author chose: not standard input, nor what is in memory.

        Examples:
            >>> Source("-", "zip", ()).has_name, Source("run.zip", "zip", ()).has_name
            (False, True)
        """
        return self.path != "-" and not self.path.startswith("<")

    def with_encoding(self, encoding: str) -> Source:
        """The source with another encoding of its files.

        Raises:
            LookupError: for an unknown encoding, or a codec of something else.
        """
        check_encoding(encoding)
        members = (msgspec.structs.replace(m, encoding=encoding) for m in self.members)
        return replace(self, members=tuple(members))

    def with_max_per_code(self, number: int) -> Source:
        """The source with another maximum of explained findings per code and file; 0 for all."""
        if number == MAX_PER_CODE:
            return self
        members = (msgspec.structs.replace(m, max_per_code=number) for m in self.members)
        return replace(self, members=tuple(members), max_per_code=number)

    def only(self, members: Iterable[Member]) -> Source:
        """The source with only some of its members, and without findings."""
        return replace(self, members=tuple(members), findings=())

    def with_texts(self, texts: Mapping[str, str]) -> Source:
        """The source with other texts of some members, by their names in findings."""
        members = list(self.members)
        for index, member in enumerate(members):
            if (text := texts.get(member.display)) is not None:
                data = partial(bytes, text.encode(member.encoding))
                members[index] = msgspec.structs.replace(member, size=len(data()), fetch=data)
        return replace(self, members=tuple(members))


_MIB = 1 << 20
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum sizes of sources; they apply to bytes that were read, not to declared sizes.

    The user chooses a plain file, which does not grow when it is read, so its limit only protects
    the memory from a wrong path. An archive comes from others and may unpack to a thousand times
    its size, so its limits are tight; unpack a larger one and pass the folder.

    Attributes:
        file_bytes: bytes of one plain file, or of standard input.
        growth: bytes that a file may have beyond its size: devices and files of the system
            have none, and some of them do not end.
        files: number of files and folders below a folder.
        member_bytes: bytes of one member of an archive, unpacked and packed.
        total_bytes: unpacked bytes of all members of an archive.
        members: number of members of an archive, folders included; released corpora have about
            30,000.
        tiny_members: number of members of a gzipped archive in which they take less than
            `packed_bytes` each: tens of thousands of empty files may be packed in a few bytes each.
        packed_bytes: packed bytes of a gzipped archive for each member above `tiny_members`.
        ratio: unpacked bytes per packed byte; annotations reach about 30, deflate 1,032.
        ratio_bytes: unpacked bytes up to which any ratio is accepted.
        nested: whether archives in an archive are members of it, which nothing opens.
        projects: whether archives in an exported project are opened (`inner_archives`).
    """

    file_bytes: int = 2 * _GIB
    growth: int = 64 * _MIB
    files: int = 300_000
    member_bytes: int = 64 * _MIB
    total_bytes: int = _GIB
    members: int = 100_000
    tiny_members: int = 30_000
    packed_bytes: int = 64
    ratio: int = 200
    ratio_bytes: int = _MIB
    nested: bool = False
    projects: bool = True

    def members_of(self, packed: int) -> int:
        """The number of members that a gzipped archive of so many packed bytes may have.

        Examples:
            >>> LIMITS.members_of(1_000_000), LIMITS.members_of(4_000_000)
            (30000, 62500)
        """
        return min(self.members, max(self.tiny_members, packed // self.packed_bytes))


#: The default limits.
LIMITS = Limits()
