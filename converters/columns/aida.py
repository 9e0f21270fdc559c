r"""AIDA CoNLL-YAGO: tokens of CoNLL-2003 with the entities of names.

Format:
    Columns between tabs: the token, `B` or `I` in a name, the name, its entity in YAGO2 (`--NME--`
    where there is none), the address and the number of its page in Wikipedia, and its identifier in
    Freebase. Other tokens are alone in their line; the last columns may be absent. `-DOCSTART-
    (NAME)` begins a document, and an empty line ends a sentence.

Conventions:
    Names have no types: their label is `NAME`. An entity is that of the column of the setting, and
    `NIL` for `--NME--` and where the column is absent. The text is made of the words with spaces
    between them, and line breaks between sentences.

Example lines:
    -DOCSTART- (1 EU)
    Osh	B	Osh	Osh	http://en.wikipedia.org/wiki/Osh	458914

Codes raised: COL1xx.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import polars as pl

from hlteval.converters.columns.named_columns import NamedColumns, locate_cells, name_in
from hlteval.converters.columns.tagged_tokens import Stretch, TokenRows, read_tagged
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.source_files import head_of_first
from hlteval.findings import FieldRef, Location
from hlteval.sources import Member, Source
from hlteval.syntax.sections import Sections, marked_sections
from hlteval.syntax.tsv import Lines

_COLUMNS = ("token", "tag", "name", "yago", "wikipedia", "page", "freebase")
_START = "-DOCSTART- ("
_NONE = "--NME--"
_DOCUMENT = r"^-DOCSTART-(?: \((.*)\) *$)?"
_IOB2 = {"scheme": "IOB2", "repair": "conlleval"}


def sniff(source: Source) -> bool:
    """Whether a document begins, and one of the first names has its entity."""
    first = head_of_first(source.members)
    lines = [line.split("\t") for line in first.split("\n")[1:]]
    return first.startswith(_START) and any(len(line) > 3 and line[1] == "B" for line in lines)


def read(
    source: Source, entity: Literal["yago", "wikipedia", "page", "freebase"] = "yago"
) -> Iterator[ReadResult]:
    """The tokens, names and entities of each file."""
    form = NamedColumns(
        _COLUMNS,
        "token",
        "tag",
        comment="^-DOCSTART-",
        document=_DOCUMENT,
        glued="",
        entity=entity,
        shorter=True,
    )

    def divide(lines: Lines) -> tuple[TokenRows, Stretch]:
        rows, stretch = form.read(lines)
        tag = pl.col("tag").replace(["B", "I"], ["B-NAME", "I-NAME"])
        linked = pl.col("entity").replace(_NONE, "NIL").fill_null("NIL")
        return rows._replace(tokens=rows.tokens.with_columns(tag, linked)), stretch

    return read_tagged(source, FORMAT.name, ".tsv", _IOB2, divide)


def sections(member: Member, **_: str) -> Sections | None:
    """The documents of a file."""
    return marked_sections(member, [b"-DOCSTART-"], name_in(_DOCUMENT))


def locate(
    member: Member, places: Sequence[FieldRef], entity: str = "yago"
) -> list[Location | None]:
    """The lines of places of a file; of a tag or entity, its cell."""
    return locate_cells(member, places, _COLUMNS, {"tag": "tag", "entity": entity})


FORMAT = declaration(__name__)
