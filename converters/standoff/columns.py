"""The lines of annotation files as tables, to which mistakes of spreadsheets are compared.

Nothing is read by these declarations: a line is more than its cells (grammars/standoff.lark).
"""

from __future__ import annotations

from collections.abc import Sequence

from hlteval.converters.standoff.dialects import ASKED, GIVEN
from hlteval.sources import Member
from hlteval.syntax.tsv import Column, Table

_FRAGMENT = "[0-9]{1,9} [0-9]{1,9}"
_SPANS = Table(
    (
        Column("identifier", pattern=r"[TW][^\s\"]*"),
        Column("span", pattern=rf"[^\s:\"]+ {_FRAGMENT}(?:;{_FRAGMENT})*"),
        Column("text"),
    )
)
_ANNOTATIONS = Table(
    (
        Column("identifier", pattern=r"[ERMN][^\s\":]*|\*"),
        Column("annotation", pattern=r"[^\s\",;|]+(?: +[^\s:\"]+:[^\s\"]+)+|Equiv(?: +[^\s\"]+)+"),
    )
)


def tabular(member: Member, first: str, **_: str) -> Sequence[Table]:  # noqa: ARG001
    """The table that a file may be: of spans in an .a1, of other annotations in an .a2."""
    if member.basename.endswith(ASKED):
        return (_ANNOTATIONS,)
    return (_SPANS,) if member.basename.endswith(GIVEN) else ()
