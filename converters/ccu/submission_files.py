"""Where the files of a submission of CCU are: its folder, its index and what that names."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hlteval.converters.ccu.submission_tables import INDEX_FILE
from hlteval.sources import Member, Source

SUFFIX = ".tab"


@dataclass(frozen=True)
class Layout:
    """The files of a submission.

    Attributes:
        index: the index; None if there is none.
        others: further indexes.
        tables: all other tables.
        files: all files by name, for paths of the index.
        folder: the folder of the index inside the source, empty for the source itself.
        name: the name of this folder.
        single: whether the source is a single file.
    """

    index: Member | None
    others: Sequence[Member]
    tables: Sequence[Member]
    files: Mapping[str, Member]
    folder: str
    name: str
    single: bool

    def resolve(self, path: str) -> str | None:
        """The member that a path of the index names, as it is if there is none; None if outside.

        A path is relative to the folder of the index. What comes before the name of this folder is
        passed over.
        """
        if path.startswith(("/", "\\")) or path[1:2] == ":":
            return None
        plain = posixpath.normpath(path.replace("\\", "/"))
        if plain == ".." or plain.startswith("../"):
            return None
        inside = posixpath.join(self.folder, plain)
        after = f"/{plain}".rpartition(f"/{self.name}/")[2] if self.name else plain
        candidates = (inside, posixpath.join(self.folder, after))
        return next((name for name in candidates if name in self.files), inside)

    def belongs_to_another(self, member: Member) -> bool:
        """Whether a file is in the folder of another index."""
        folders = [posixpath.dirname(other.name) for other in self.others]
        return any(member.name.startswith(f"{folder}/") for folder in folders)

    def with_other_suffix(self, name: str) -> str:
        """The only file that differs from a name in its suffix; empty if there is none."""
        stem = name.removesuffix(SUFFIX)
        others = [other for other in self.stems.get(stem, ()) if not other.endswith(SUFFIX)]
        return others[0] if len(others) == 1 else ""

    @cached_property
    def stems(self) -> Mapping[str, Sequence[str]]:
        """The files by their names without suffix."""
        found: dict[str, list[str]] = {}
        for name in self.files:
            found.setdefault(posixpath.splitext(name)[0], []).append(name)
        return found

    def inside(self, member: str) -> str:
        """The path of a member from the folder of the index."""
        return member.removeprefix(f"{self.folder}/") if self.folder else member


def layout(source: Source) -> Layout:
    """The files of a submission: a folder, an archive or a single table."""
    if source.kind in {"file", "stdin"}:
        # A file that cannot be read is not a member.
        if [member.basename for member in source.members] == [INDEX_FILE]:
            return Layout(source.members[0], (), (), {}, "", "", single=True)
        return Layout(None, (), source.members, {}, "", "", single=True)
    tables = [member for member in source.members if member.basename.endswith(SUFFIX)]
    indexes = [member for member in tables if member.basename == INDEX_FILE]
    indexes.sort(key=lambda member: (member.name.count("/"), member.name))
    first = indexes[0] if indexes else None
    folder = posixpath.dirname(first.name) if first else ""
    name = posixpath.basename(folder or posixpath.normpath(source.path))
    others = [member for member in tables if member.basename != INDEX_FILE]
    files = {member.name: member for member in source.members if member not in indexes}
    return Layout(first, indexes[1:], others, files, folder, name, single=False)


def stem(member: Member) -> str:
    """The document that a file is named after.

    Examples:
        >>> stem(Member("out/D1.tab", "", 0, bytes))
        'D1'
    """
    return member.basename.removesuffix(SUFFIX)
