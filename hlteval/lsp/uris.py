"""URIs of an editor, and the keys by which its documents are known here.

The key of a file is its absolute path; that of anything else, such as a buffer without a name, is
its URI.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

_DRIVE = re.compile(r"/[A-Za-z]:")


def key(uri: str) -> str:
    """The key of a document.

    Examples:
        >>> key("file:///runs/a%20b.tab"), key("untitled:Untitled-1")
        ('/runs/a b.tab', 'untitled:Untitled-1')
    """
    try:
        parts = urlsplit(uri)
        local = parts.scheme == "file" and parts.netloc in {"", "localhost"}
    except ValueError:  # half of an address
        return uri
    path = os.fsdecode(unquote_to_bytes(parts.path)) if local else ""
    if "\0" in path or not path.startswith("/"):
        return uri
    return os.path.normpath(path[1:] if os.name == "nt" and _DRIVE.match(path) else path)


def is_path(known: str) -> bool:
    """Whether a key is the path of a file.

    Examples:
        >>> is_path("/runs/a.tab"), is_path("untitled:Untitled-1")
        (True, False)
    """
    return Path(known).is_absolute()


def uri(known: str) -> str:
    """The URI of a key.

    Examples:
        >>> uri("/runs/a b.tab"), uri("untitled:Untitled-1")
        ('file:///runs/a%20b.tab', 'untitled:Untitled-1')
    """
    return Path(known).as_uri() if is_path(known) else known


def absolute(path: str) -> str:
    """The key of a path that is relative to the working directory; links are not followed.

    Examples:
        >>> absolute("/runs/../a.tab")
        '/a.tab'
    """
    return os.path.normpath(Path.cwd() / path)
