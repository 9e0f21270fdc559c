"""The lines of .a2 files as tables, to which mistakes of spreadsheets are compared.

Nothing is read by this declaration: a line is more than its cells (grammars/standoff.lark).
"""

from __future__ import annotations

from collections.abc import Sequence

from hlteval.converters.standoff.dialects import ASKED
from hlteval.sources import Member
from hlteval.syntax.tsv import Column, Table

_ANNOTATIONS = Table(
    (
        Column("identifier", pattern=r"[ERMN][^\s\":]*|\*"),
        Column("annotation", pattern=r"[^\s\",;|]+(?: +[^\s:\"]+:[^\s\"]+)+|Equiv(?: +[^\s\"]+)+"),
    )
)


def tabular(member: Member, first: str, **_: str) -> Sequence[Table]:  # noqa: ARG001
    """The table that a file may be: of events and other annotations to predict."""
    return (_ANNOTATIONS,) if member.basename.endswith(ASKED) else ()
