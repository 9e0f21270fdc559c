"""Sources: bytes of folders, files, archives and standard input, within limits."""

from hlteval.sources.decoding import decode, sha256
from hlteval.sources.names import is_file_name, is_file_path, is_inner_archive, stays_inside
from hlteval.sources.opening import OpenInput, open_source
from hlteval.sources.source import LIMITS, Limits, Listed, Member, Source, TooManyFiles, Unreadable
from hlteval.sources.writing import finish, merge, unfinished_path, writing

#: Prefixes of the codes that any file may raise, whatever its format.
CODES = ("SRC",)

__all__ = [
    "CODES", "LIMITS", "Limits", "Listed", "Member", "OpenInput", "Source", "TooManyFiles",
    "Unreadable", "decode", "finish", "is_file_name", "is_file_path", "is_inner_archive", "merge",
    "open_source", "sha256", "stays_inside", "unfinished_path", "writing",
]  # fmt: skip
