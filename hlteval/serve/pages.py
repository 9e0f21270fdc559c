"""The page: HTML with its own style and script, which its policy names by their digests."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from hlteval.reports.html.embedding import as_json

_FILES = resources.files("hlteval.serve") / "assets"
_STRICT = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
REPORT_POLICY = "sandbox allow-scripts; frame-ancestors 'self'"
"""The policy of a report beside its own: it has no origin, and no cookie."""


def page(data: Mapping[str, Any]) -> tuple[str, str]:
    """The page of a session, and its content security policy.

    Args:
        data: what it asks for, as plain values.
    """
    style, script = _asset("page.css"), _asset("page.js")
    html = _asset("page.html").replace("{{ style }}", style).replace("{{ script }}", script)
    policy = (
        f"{_STRICT}; script-src {_digest(script)}; style-src {_digest(style)}; "
        "connect-src 'self'; frame-src 'self'; img-src data:; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return html.replace("{{ data }}", as_json(data)), policy


def entrance(path: str) -> tuple[str, str]:
    """A page that goes on to another path at once, and its content security policy.

    It is no redirect: the browser would not send the new cookie after a link from elsewhere.
    """
    return _asset("entrance.html").replace("{{ path }}", path), _STRICT


def _asset(name: str) -> str:
    return _FILES.joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    """A text as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
