r"""CoNLL-U Plus: a token per line with columns that the file names, one of them tags of entities.

Format:
    `# global.columns = ID FORM NER` names the columns, which tabs separate; without it they are the
    ten of CoNLL-U. `# newdoc id = NAME` begins a document, and an empty line ends a sentence.

Conventions:
    The settings name the columns of words and tags; by default the tags are in the column NER, NE
    or ENTITY, or else in the last one, and `_` and `*` are `O`. Tags are of words: ranges (`1-2`)
    and empty nodes (`1.1`) are skipped. The text is made of the words, with a space after each but
    where MISC has `SpaceAfter=No`, and line breaks between sentences.

Example lines:
    # global.columns = ID FORM NER
    1	Osh	B-LOC

Codes raised: COL1xx.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import polars as pl

from hlteval.converters.columns.named_columns import NamedColumns, locate_cells, name_in
from hlteval.converters.columns.tag_writing import count_words_lost, tag_corpus
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

SUFFIX = ".conllup"
_COLUMNS = re.compile(r"# *global\.columns *= *([^\n]*)")
_CONLLU = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_DOCUMENT = r"^# *newdoc(?: +id *= *(.*?))? *$"
#: Names of the column with tags, where none is set.
_TAGS = ("NER", "NE", "ENTITY", "NAMED_ENTITY")


def read(source: Source, **settings: str) -> Iterator[ReadResult]:
    """The tokens and mentions of each file."""

    def divide(lines: Lines) -> tuple[TokenRows, Stretch]:
        names = _names(islice(lines, 20))
        return NamedColumns(
            names,
            settings["word"],
            _tag_column(names, settings["column"]),
            comment="^# |^#[^\t]*$",  # others are words, where these are first
            document=_DOCUMENT,
            glued="SpaceAfter=No",
            notes="MISC",
            number="ID",
        ).read(lines)

    return read_tagged(source, FORMAT.name, SUFFIX, settings, divide)


def _names(lines: Iterable[str]) -> Sequence[str]:
    """The names of the columns of a file, by its first lines."""
    found = next((match for line in lines if (match := _COLUMNS.match(line))), None)
    return found[1].split() if found else _CONLLU


def _tag_column(names: Sequence[str], column: str) -> str:
    """The name of the column with tags."""
    usual = (name for name in names if name.rpartition(":")[2].upper() in _TAGS)
    return column or next(usual, names[-1] if names else "")


def sections(member: Member, **_: str) -> Sections | None:
    """The documents of a file."""
    return marked_sections(member, [b"#"], name_in(_DOCUMENT), rb"(?:#[^\n]*\n|\s)*")


def locate(member: Member, places: Sequence[FieldRef], column: str = "") -> list[Location | None]:
    """The lines of places of a file; of a label or tag, its cell."""
    names = _names(beginning(member).split("\n")[:20])
    return locate_cells(member, places, names, {"tag": _tag_column(names, column)})


def write(
    corpora: Iterable[Corpus], path: Path, to_scheme: Scheme | Literal["same"] = "same"
) -> None:
    """Write the documents of all corpora to one file."""
    misc = pl.when(pl.col("glued").shift(-1)).then(pl.lit("SpaceAfter=No")).otherwise(pl.lit("_"))
    number = pl.int_range(1, pl.len() + 1).over(pl.col("begins").cast(pl.Int64).cum_sum())
    line = pl.format("{}\t{}\t{}\t{}", number, "word", misc, "tag")
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("# global.columns = ID FORM MISC NER\n")
        for corpus in corpora:
            tagged = tag_corpus(corpus, "tab", to_scheme, "named", glue=True)
            for name, body in bodies(tagged.documents, tagged.tokens, line):
                stream.write(f"# newdoc id = {name}\n{body or chr(10)}")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what tags of tokens cannot represent."""
    return count_words_lost(corpus, tag_corpus(corpus, "tab", "IOB2", "named", glue=True))


FORMAT = declaration(__name__)
