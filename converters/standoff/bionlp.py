r"""BioNLP-ST standoff: a folder with one text file and its annotation files per document.

Format:
    `<document>.txt` is the text, `<document>.a1` the given annotations, `<document>.a2` the
    annotations to predict. Each annotation is a line: identifier, tab, content; its first letter
    gives the kind of annotation (grammars/standoff.lark). Lines may come in any order; the .a2 may
    refer to identifiers of the .a1.

Conventions:
    Offsets are 0-based, half-open code points. Fragments of a discontinuous span are separated by
    ``;``.

Example lines:
    T26	Protein_Family 903 906;914 927	12S seed proteins
    E1	Localization Functional_Molecule:T26 Target_Tissue:T25

Codes raised: STD1xx, for malformed records.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.standoff import reading, writing
from hlteval.converters.standoff.dialects import BIONLP
from hlteval.converters.standoff.reading import BATCH, EXPLAINED
from hlteval.converters.toolkit.offsets import CHARACTERS, results_in_characters
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Column, Table

# The lines of .a2 files as tables, to which mistakes of spreadsheets are compared.
#
# Nothing is read by this declaration: a line is more than its cells (grammars/standoff.lark).


_ANNOTATIONS = Table(
    (
        Column("identifier", pattern=r"[ERMN][^\s\":]*|\*"),
        Column("annotation", pattern=r"[^\s\",;|]+(?: +[^\s:\"]+:[^\s\"]+)+|Equiv(?: +[^\s\"]+)+"),
    )
)


def tabular(member: Member, first: str, **_: str) -> Sequence[Table]:  # noqa: ARG001
    """The table that a file may be: of events and other annotations to predict."""
    return (_ANNOTATIONS,) if member.basename.endswith(BIONLP.others) else ()


__all__ = ["BATCH", "EXPLAINED", "FORMAT", "read", "write"]


def read(
    source: Source, offsets: str = CHARACTERS, invalid_bytes: str = "reject"
) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    replace = invalid_bytes == "replace"
    results = (batch.result for batch in reading.read(source, BIONLP, replace=replace))
    return results_in_characters(results, offsets)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The documents as a folder of .txt, .a1 and .a2 files.

    A record is written to the file that it was read from. If there is none, mentions are written
    to the .a1, all others to the .a2. Lines keep the order of their records.
    """
    writing.write(corpora, path, BIONLP)


sniff = partial(reading.sniff, dialect=BIONLP)
documents = partial(reading.documents, dialect=BIONLP)
locate = partial(reading.locate, dialect=BIONLP)
count_losses = partial(writing.count_losses, dialect=BIONLP)
FORMAT = declaration(__name__)
