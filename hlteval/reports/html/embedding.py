"""What a report has inside itself: scripts, styles and data, so that it loads nothing.

Security:
    Data are JSON in script elements, with `<`, `>` and `&` as escapes: no text can end its element.
    The policy of the page names its own scripts by their digests. A browser runs no other script,
    and loads nothing, even if some text were taken for HTML.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from importlib import resources
from typing import Any

import msgspec

from hlteval.reports.escapes import escaped, printable

_FILES = resources.files("hlteval.reports.html")
_MAP = re.compile(r"(?m)^(//|/\*)# sourceMappingURL=.*$")
_ESCAPES = {b"<": b"\\u003c", b">": b"\\u003e", b"&": b"\\u0026"}


def as_json(value: Any) -> str:
    r"""A value as JSON that can be the text of a script element.

    Examples:
        >>> as_json(["</script>"])
        '["\\u003c/script\\u003e"]'
    """
    text = escaped(_encoded(value))
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text.decode()


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # a lone surrogate, as in a file name that is not UTF-8
        return msgspec.json.encode(printable(msgspec.to_builtins(value)))


def asset(path: str) -> str:
    """A script or a style of this folder, without references to files that are not there.

    A library begins with its licence.

    Examples:
        >>> asset("vendor/d3.min.js").startswith("/*!")
        True
    """
    text = _MAP.sub("", _FILES.joinpath(path).read_text("utf-8"))
    folder, _, name = path.rpartition("/")
    if folder != "vendor" or not name.endswith(".js"):
        return text
    licence = _FILES.joinpath(folder, f"{name.partition('.')[0]}.LICENSE").read_text("utf-8")
    return f"/*!\n{licence.strip()}\n*/\n{text}"


def policy(scripts: Iterable[str]) -> str:
    """The content security policy of a page with some scripts."""
    own = " ".join(_digests(scripts))
    return (
        f"default-src 'none'; script-src {own}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digests(scripts: Iterable[str]) -> Iterator[str]:
    for script in scripts:
        digest = hashlib.sha256(script.encode()).digest()
        yield f"'sha256-{base64.b64encode(digest).decode()}'"
