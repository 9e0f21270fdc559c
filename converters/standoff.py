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

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from hlteval.converters import standoff_files, standoff_fitting, standoff_reading
from hlteval.converters.format import Format, Reading
from hlteval.converters.standoff_dialects import BIONLP
from hlteval.converters.standoff_reading import BATCH, EXPLAINED
from hlteval.representation import Corpus
from hlteval.sources import Source

__all__ = ["BATCH", "EXPLAINED", "FORMAT", "read", "write"]


def read(source: Source) -> Iterator[Reading]:
    """The documents of a source in batches, in the order of their names."""
    return (batch.reading for batch in standoff_reading.read(source, BIONLP))


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The documents as a folder of .txt, .a1 and .a2 files.

    A record goes to the file it came from; one that came from no such file goes to the .a1 if it is
    a mention and to the .a2 if not. Lines keep the order of their records.
    """
    standoff_files.write(corpora, path, BIONLP)


FORMAT = Format(
    name="standoff",
    title="BioNLP-ST standoff: a folder of .txt, .a1 and .a2 files",
    suffixes=BIONLP.suffixes,
    carries=(
        *("sources", "documents", "mentions", "groups", "frames", "arguments", "modifiers"),
        *("documents.text", "mentions.fragments", "mentions.text"),
        *("frames.frame", "frames.trigger", "modifiers.value"),
    ),
    lost=partial(standoff_fitting.lost, dialect=BIONLP),
    loses="layout of non-canonical lines; unreadable records",
    sniff=partial(standoff_reading.sniff, dialect=BIONLP),
    documents=partial(standoff_reading.documents, dialect=BIONLP),
    read=read,
    locate=partial(standoff_reading.locate, dialect=BIONLP),
    write=write,
    kinds=("event", "relation"),
)
