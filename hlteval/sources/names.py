"""Names and first bytes of files: archives, documents that are not text, and safe names.

`sources/names.py` knows spreadsheets, pictures and documents by their bytes, so that `decode`
reports them (SRC205) for all formats.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from hlteval.extensions import read_tables


def _signatures(texts: Iterable[str]) -> tuple[bytes, ...]:
    """Return first bytes, each of which is a character of a text."""
    return tuple(text.encode("latin-1") for text in texts)


_FILES = read_tables("hlteval.sources", "signatures")
#: The kinds of archives in words.
KINDS: dict[str | None, str] = {kind: each["title"] for kind, each in _FILES["archives"].items()}
_SUFFIXES: Mapping[str, str] = _FILES["suffixes"]
ARCHIVE_SUFFIXES = tuple(_SUFFIXES)
#: The first bytes of the kinds of archives.
_FIRST = {kind: _signatures(each["first"]) for kind, each in _FILES["archives"].items()}
_ALL = tuple(chain.from_iterable(_FIRST.values()))


def is_archive(data: bytes) -> bool:
    """Whether bytes start with the signature of an archive or a compressed file.

    Examples:
        >>> is_archive(b"PK" + bytes([3, 4])), is_archive(b"T1")
        (True, False)
    """
    return data.startswith(_ALL) or data[257:262] == b"ustar"


def archive_kind(head: bytes) -> str | None:
    """The kind of an archive by its first 262 bytes: `zip`, `gzip`, `tar`, …; None for other files.

    Examples:
        >>> archive_kind(bytes([0x1F, 0x8B, 8]))
        'gzip'
    """
    if not is_archive(head):
        return None
    return next((kind for kind, first in _FIRST.items() if head.startswith(first)), "tar")


def archive_suffix(name: str) -> str | None:
    """The kind of an archive by the suffix of its name; None for other suffixes.

    Examples:
        >>> archive_suffix("run1.TAR.GZ"), archive_suffix("ref.tab.gz"), archive_suffix("d1.a2")
        ('gzip', 'compressed file', None)
    """
    lower = name.lower()
    if not lower.endswith(ARCHIVE_SUFFIXES):
        return None
    return next(kind for suffix, kind in _SUFFIXES.items() if lower.endswith(suffix))


#: The kinds of other documents in words, with their first bytes.
_PLAIN = {kind: _signatures(first) for kind, first in _FILES["documents"].items()}
_ANY = tuple(first for signatures in _PLAIN.values() for first in signatures)
#: The first bytes of the files of Office before 2007.
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_STREAMS = {"Workbook": "an Excel spreadsheet", "WordDocument": "a Word document"}
#: A member, in the list of a zip archive or before its content, that only Office writes.
_IN_ZIP = re.compile(rb"PK(?:\x01\x02.{42}|\x03\x04.{26})(xl|word|ppt)/", re.DOTALL)
_OPEN_DOCUMENT = re.compile(
    rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis\.opendocument\.(spreadsheet|text)?", re.DOTALL
)


def document_kind(data: bytes) -> str:
    r"""A spreadsheet, picture or other document in words, by its bytes; empty for other files.

    Archives are none, but for those that are the files of an office program.

    Examples:
        >>> document_kind(b"%PDF-1.7\n"), document_kind(b"T1\tGene 0 4\tABI3")
        ('a PDF document', '')
    """
    if data.startswith(b"PK\x03\x04"):
        if found := _OPEN_DOCUMENT.match(data):
            return f"an OpenDocument {(found[1] or b'file').decode()}"
        member = _IN_ZIP.search(data)
        return str(_FILES["office"][member[1].decode()]) if member else ""
    if data.startswith(_OLE):
        streams = (kind for name, kind in _OLE_STREAMS.items() if name.encode("utf-16-le") in data)
        return next(streams, "a file of Microsoft Office")
    if not data.startswith(_ANY):
        return ""
    return str(next(kind for kind, first in _PLAIN.items() if data.startswith(first)))


_EVERY = (*_ALL, *_ANY, _OLE, b"PK\x03\x04")


def has_signature(data: bytes) -> bool:
    """Whether bytes may be an archive or a document, as those of texts never are.

    Examples:
        >>> has_signature(b"%PDF-1.7"), has_signature(b"T1")
        (True, False)
    """
    return data.startswith(_EVERY) or data[257:262] == b"ustar"


_HIDDEN_CHARACTERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
#: The reasons why a member must not be unpacked, by the patterns of their parts of a name.
_REASONS = {
    r"(?:^|/)\.\.(?:/|$)": "leads out of the archive with '..'",
    r"^/": "absolute path",
    r"^[A-Za-z]:": "starts with a drive letter",
    r"\\": "contains a backslash, which separates folders on Windows only",
    r"[\x00-\x1f\x7f-\x9f]": "contains a control character",
}
_UNSAFE = re.compile("|".join(f"({pattern})" for pattern in _REASONS))
_JUNK = re.compile(
    r"(?:^|/)(?:\.(?!\.?(?:/|$))|__MACOSX(?:/|$)|PaxHeaders?(?:\.[0-9]+)?/|(?:Thumbs\.db|desktop\.ini)$)",
    re.IGNORECASE,
)

_ORDINARY_NAMES = re.compile(r"(?:(?:[\w-][\w .+=,@()-]*+/)*+[\w-][\w .+=,@()-]*+\n)*+", re.ASCII)
#: Parts of otherwise ordinary names that may be junk or archives.
_SUSPECT = (
    *("__macosx", "paxheader", "thumbs.db\n", "desktop.ini\n"),
    *(f"{suffix}\n" for suffix in ARCHIVE_SUFFIXES),
)


def are_ordinary(names: Sequence[str]) -> bool:
    """Whether no name needs a check of its own; one check for all takes a tenth of the time.

    Ordinary names are safe ASCII names of files that are neither junk nor archives. Other names may
    be valid, too.

    Examples:
        >>> are_ordinary(["d1.a2", "out/d1.a2"]), are_ordinary(["d1.a2", ".DS_Store"])
        (True, False)
    """
    text = "\n".join([*names, ""])
    if text.count("\n") != len(names) or _ORDINARY_NAMES.fullmatch(text) is None:
        return False
    lower = text.lower()
    return not any(word in lower for word in _SUSPECT)


def printable(name: str) -> str:
    r"""A name with escapes for invisible characters and bytes that are not UTF-8.

    Examples:
        >>> print(printable("a\x1b[2J\u202eb\udce9.txt"), printable("東京.txt"))
        a\x1b[2J\u202eb\xe9.txt 東京.txt
    """

    def escape(character: re.Match[str]) -> str:
        code = ord(character[0])
        if 0xDC80 <= code <= 0xDCFF:  # Python's surrogate for a byte that is not UTF-8
            code -= 0xDC00
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

    if name.isascii() and name.isprintable():
        return name
    return _HIDDEN_CHARACTERS.sub(escape, name)


def as_text(name: str) -> str:
    r"""A name as tables and files can hold it: with escapes for bytes that are not UTF-8 only.

    Examples:
        >>> print(as_text("a\u202eb.txt") == "a\u202eb.txt", as_text("b\udce9.txt"))
        True b\xe9.txt
    """
    return name if is_text(name) else printable(name)


def is_text(name: str) -> bool:
    r"""Whether all bytes of a name are UTF-8.

    Examples:
        >>> is_text("d\u00e9j\u00e0"), is_text("d\udce9j")
        (True, False)
    """
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


#: Maximum length of a name in bytes; most systems allow 255, and a suffix may be added.
_LONGEST = 240
#: Most names of documents, of which there may be 100,000: nothing else needs to be looked at.
_ORDINARY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. ()-]{0,99}")
#: Maximum length of a path in bytes; Linux allows 4096, with the folder that it is in.
_LONGEST_PATH = 3000


def unsafe_reason(name: str) -> str | None:
    r"""The reason why a member with this name must not be unpacked; None for a safe name.

    Examples:
        >>> unsafe_reason("../d1.a2"), unsafe_reason("C:d1.a2"), unsafe_reason("runs..1/d1.a2")
        ("leads out of the archive with '..'", 'starts with a drive letter', None)
    """
    found = _UNSAFE.search(name)
    return [*_REASONS.values()][found.lastindex - 1] if found and found.lastindex else None


def is_junk(name: str) -> bool:
    """Whether a file is hidden or a by-product of an operating system.

    Examples:
        >>> [is_junk(name) for name in ("__MACOSX/._d1.a2", "a/.DS_Store", "./a/d.1.a2")]
        [True, True, False]
    """
    return _JUNK.search(name) is not None


_INNER = re.compile(r"(?:^|/)(?:annotation|curation)/[^/]+/[^/]+\.zip$", re.IGNORECASE)


def is_inner_archive(name: str) -> bool:
    """Whether a file is an archive in an exported project of INCEpTION, which is opened.

    Examples:
        >>> is_inner_archive("p/annotation/d1.txt/anna.zip"), is_inner_archive("annotation/d1.zip")
        (True, False)
    """
    return name[-4:].lower() == ".zip" and _INNER.search(name) is not None


def normalize(name: str) -> str:
    """A name without empty parts and `.` parts.

    Examples:
        >>> normalize("./out//d1.a2"), normalize("./")
        ('out/d1.a2', '')
    """
    if "//" not in name and "./" not in name and "/." not in name and name != ".":
        return name.removesuffix("/")
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def is_file_name(name: str) -> bool:
    """Whether a name is a valid file name, also if a suffix is added.

    Examples:
        >>> is_file_name("NW_X.1"), is_file_name("a/b"), is_file_name("..")
        (True, False, False)
    """
    return (
        name not in {"", ".", ".."}
        and not set(name) & set("/\\\0")
        and len(name.encode("utf-8", "replace")) <= _LONGEST
    )


def is_file_path(name: str) -> bool:
    """Whether a name is that of a file, also if a suffix is added, possibly in sub-folders.

    Examples:
        >>> is_file_path("run-1/d1"), is_file_path("/d1"), is_file_path("../d1")
        (True, False, False)
    """
    if _ORDINARY.fullmatch(name):
        return True
    length = len(name.encode("utf-8", "replace"))
    return length <= _LONGEST_PATH and all(map(is_file_name, name.split("/")))


def stays_inside(path: str) -> bool:
    """Whether a relative path can be written and stays inside its folder.

    Examples:
        >>> stays_inside("runs/d1.a2"), stays_inside("../d1.a2"), stays_inside("/d1.a2")
        (True, False, False)
    """
    return unsafe_reason(path) is None and is_file_path(path)
