r"""HIPE: a token per line with columns of named entities and their links, as in HIPE-2020 and 2022.

Format:
    Columns between tabs, which the first line names: `TOKEN`, tags in `NE-COARSE-LIT` and others,
    entities in `NEL-LIT` and `NEL-METO`, and notes between `|` in `MISC`. `# hipe2022:document_id`
    (in 2020 `# document_id`) begins a document.

Conventions:
    The setting names the column of tags; entities are those of the same reading, literal or
    metonymic. `|` is between several candidates, the likeliest first, and `_` is none. The text is
    made of the words, with a space after each but where MISC has `NoSpaceAfter`, and a line break
    after `EndOfSentence`. Written files have `_` in columns that are not tagged.

Example lines:
    # hipe2022:document_id = sn83030483-1790-01-02-a-i0004
    VIRGINIA	B-loc	O	B-loc	O	O	O	Q1370|Q1070529	_	NoSpaceAfter

Codes raised: COL1xx.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from hlteval.converters.columns.named_columns import NamedColumns, locate_cells, name_in
from hlteval.converters.columns.tag_writing import Tagged, count_words_lost, tag_corpus
from hlteval.converters.columns.tagged_tokens import Stretch, TokenRows, read_tagged
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.source_files import beginning
from hlteval.converters.toolkit.token_lines import bodies
from hlteval.findings import FieldRef, Location
from hlteval.representation import Corpus
from hlteval.representation.tag_schemes import Scheme
from hlteval.sources import Member, Source
from hlteval.syntax.sections import Sections, marked_sections
from hlteval.syntax.tsv import Lines

_NE = ("COARSE-LIT", "COARSE-METO", "FINE-LIT", "FINE-METO", "FINE-COMP", "NESTED")
COLUMNS = ("TOKEN", *(f"NE-{name}" for name in _NE), "NEL-LIT", "NEL-METO", "MISC")
_DOCUMENT = r"^# *(?:hipe2022:)?document_id *= *(.*?) *$"
_UNFIT = r"[\t\n\r\x00|\x{FEFF}]|^$|^_$|^O$"


def read(source: Source, **settings: str) -> Iterator[ReadResult]:
    """The tokens, mentions and entities of each file."""
    column = settings["column"]

    def divide(lines: Lines) -> tuple[TokenRows, Stretch]:
        return NamedColumns(
            lines[0].split("\t") if len(lines) else COLUMNS,
            COLUMNS[0],
            column,
            comment=f"^#[^\t]*$|^{COLUMNS[0]}\tNE-",
            document=_DOCUMENT,
            glued="NoSpaceAfter",
            entity=_entity_column(column),
            notes=COLUMNS[-1],
            sentence="EndOfSentence",
            header=True,
        ).read(lines)

    return read_tagged(source, FORMAT.name, ".tsv", settings, divide)


def _entity_column(column: str) -> str:
    return "NEL-METO" if column.endswith("METO") else "NEL-LIT"


def sections(member: Member, **_: str) -> Sections | None:
    """The documents of a file."""
    return marked_sections(member, [b"#"], name_in(_DOCUMENT), rb"[^\n]*\n(?:#[^\n]*\n|\s)*")


def locate(
    member: Member, places: Sequence[FieldRef], column: str = COLUMNS[1]
) -> list[Location | None]:
    """The lines of places of a file; of a label, tag or entity, its cell."""
    names = beginning(member).partition("\n")[0].rstrip("\r").split("\t")
    return locate_cells(member, places, names, {"tag": column, "entity": _entity_column(column)})


def write(
    corpora: Iterable[Corpus],
    path: Path,
    to_column: str = COLUMNS[1],
    to_scheme: Scheme | Literal["same"] = "same",
) -> None:
    """Write the documents of all corpora to one file."""
    cells = {
        **dict.fromkeys(COLUMNS, pl.lit("_")),
        "TOKEN": pl.col("word"),
        to_column: pl.col("tag"),
        _entity_column(to_column): pl.col("entity").fill_null("_"),
        "MISC": pl.col("misc"),
    }
    line = pl.concat_str([*cells.values()], separator="\t")
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("\t".join(cells) + "\n")
        for corpus in corpora:
            tagged = tag_corpus(corpus, "tab", to_scheme, "named", glue=True)
            tokens = _with_notes(corpus, tagged)
            for name, body in bodies(tagged.documents, tokens, line, ""):
                stream.write(f"# hipe2022:document_id = {name}\n{body or chr(10)}\n")


def _with_notes(corpus: Corpus, tagged: Tagged) -> pl.DataFrame:
    """The tokens with the candidates of their mentions, and the notes after them."""
    links = corpus.links.filter(~pl.col("entity").str.contains(_UNFIT)).sort("mention_row", "rank")
    others = links.group_by("mention_row").agg(others=pl.col("entity"))
    fit = corpus.mentions.filter(~pl.col("entity").str.contains(_UNFIT))
    known = fit.select("entity", mention_row="row").join(others, on="mention_row", how="left")
    every = pl.concat_list("entity", pl.col("others").fill_null([])).list.join("|")
    known = known.select("mention_row", entity=every)
    rows = tagged.tokens.join(known, on="mention_row", how="left", maintain_order="left")
    same = pl.col("document") == pl.col("document").shift(-1)
    ends = pl.col("begins").shift(-1) & same
    notes = pl.concat_str(
        pl.when(pl.col("glued").shift(-1) & same).then(pl.lit("NoSpaceAfter")),
        pl.when(ends).then(pl.lit("EndOfSentence")),
        separator="|",
        ignore_nulls=True,
    )
    return rows.with_columns(misc=notes.replace("", "_"))


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what these columns cannot represent."""
    wrong = [
        rows.filter(pl.col("entity").str.contains(_UNFIT)).height
        for rows in (corpus.mentions, corpus.links)
    ]
    own = corpus.mentions.filter(~pl.col("entity").str.contains(_UNFIT))
    alone = corpus.links.filter(~pl.col("mention_row").is_in(own["row"].implode())).height
    return {
        **count_words_lost(corpus, tag_corpus(corpus, "tab", "IOB2", "named", glue=True)),
        "entities that are empty, or have tabs or bars": sum(wrong),
        "candidates without an entity before them": alone,
        "unknown candidates": corpus.links["entity"].null_count(),
    }


FORMAT = declaration(__name__)
