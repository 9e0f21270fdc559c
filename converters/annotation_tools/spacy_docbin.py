"""DocBin files of spaCy (`.spacy`), read and written without spaCy.

Format:
    zlib of MessagePack: a table of numbers for the tokens of all documents, the strings that these
    stand for, and the categories, groups of spans and user data of each document
    (`docbin_reading`).

Conventions:
    A document is read as if `Doc.to_json` had written it: see `spacy_json`, also for the settings.
    Its name is `id` in its user data, or that of the file with its number. `ENT_KB_ID` is the
    entity. Tags, lemmas, heads, relations and norms of tokens are kept, as are further groups of
    spans, user data that are JSON, and which tokens lack a decision on entities.

    All 13 attributes that spaCy writes by default are written. Tokens cover the text: where there
    are none, words and signs become tokens, and a mention that begins or ends inside of a token
    cuts it.

Example:
    `DocBin(docs=[doc], store_user_data=True).to_disk("train.spacy")`

Codes raised: DCBxxx; JANxxx.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hlteval.converters.annotation_tools import spacy_json
from hlteval.converters.annotation_tools.docbin_reading import COLUMNS, DAMAGE, Documents
from hlteval.converters.annotation_tools.docbin_writing import Packing
from hlteval.converters.annotation_tools.spacy_json import DIALECT, GROUP, checked_settings, take
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.json_annotations import Draft
from hlteval.converters.toolkit.json_documents import Item, compact
from hlteval.converters.toolkit.offsets import CHARACTERS
from hlteval.converters.toolkit.source_files import read_members, stem, with_suffix
from hlteval.findings import Finding, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable

SUFFIX = ".spacy"


def sniff(source: Source) -> bool:
    """Whether the file, or the first of a folder, is compressed and begins as a DocBin."""
    members = with_suffix(source, SUFFIX)
    try:
        begin = members[0].reader()(0, 4000) if members else b""
        content = zlib.decompressobj().decompress(begin, 200)
    except (Unreadable, zlib.error):
        return False
    return b"\xa5attrs" in content or b"\xa6tokens" in content


def read(source: Source, spans: str = GROUP, threshold: str = "0.5") -> Iterator[ReadResult]:
    """The documents of a source.

    Raises:
        WrongSetting: if the threshold is not a number.
    """
    draft = Draft(_DIALECT, CHARACTERS, checked_settings(spans, threshold))

    def read_file(
        member: Member, data: bytes, origin: dict[str, object]
    ) -> Iterator[tuple[Corpus, Iterable[Finding]]]:
        try:
            documents = Documents(data, member, draft)
        except DAMAGE as error:
            reason = str(error).partition("\n")[0][:100]
            yield Corpus(sources=[origin]), [finding("DCB101", file=member.display, reason=reason)]
            return
        for tables in draft.add_file(documents, stem(member, SUFFIX), 0):
            yield Corpus(sources=[origin], **tables), documents.bounded.take()
        yield Corpus(sources=[origin], **draft.tables()), documents.bounded.findings

    return read_members(source.only(with_suffix(source, SUFFIX)), FORMAT.name, read_file)


def _take(draft: Draft, item: Item) -> None:
    """Add a document, whose tokens are columns."""
    columns: Item = item.pop(COLUMNS)
    words, first = columns.pop("orth"), len(draft.rows["segments"])
    take(draft, item)
    records = draft.number(len(words))
    starts, ends = columns.pop("start"), columns.pop("end")
    begins = [sentence[4] for sentence in draft.rows["segments"][first:]]
    sentences = np.searchsorted(begins, starts, side="right") - 1 + first if begins else None
    place = {"document": draft.row, "origin": draft.origin, "record": records}
    rows = {"segment_row": sentences, "name": None, "start": starts, "end": ends, "text": words}
    for name in ("pos", "morph"):
        rows[name] = [text or None for text in columns[name]] if name in columns else None
    draft.add_columns("tokens", len(words), {**place, **rows})
    for name, column in columns.items():
        listed: Any = zip(records, column, strict=True)
        if name in rows:  # empty ones are kept, which `Doc.from_json` wants
            listed = ((record, text) for record, text in listed if not text)
        elif name == "norm":
            pairs = zip(listed, words, strict=True)
            listed = (own for own, word in pairs if own[1] not in {"", word.lower()})
        own, values = [*zip(*listed, strict=True)] or ((), ())
        texts = {value: compact(value) for value in set(values)}
        member = {"element": "$.tokens", "name": name, "value": [texts[value] for value in values]}
        draft.add_columns("attributes", len(own), {**place, "record": [*own], **member})


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All documents."""
    packing = Packing()
    for corpus in corpora:
        _add(corpus, packing)
    path.write_bytes(packing.pack())


def _add(corpus: Corpus, packing: Packing) -> None:
    """Add the documents of a batch, without what only other formats have."""
    own = corpus.attributes.filter(pl.col("element").is_in(spacy_json.OWN))
    for _, item in spacy_json.objects(corpus.replace(attributes=own)):
        packing.add(item)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what a file cannot represent."""
    packing = Packing()
    _add(corpus, packing)
    lost = spacy_json.count_losses(corpus, spacy_json.OWN)
    return {**lost, "mentions without characters": 0, **packing.lost}  # which has these, too


_PARTS = {name: DIALECT.parts[name] for name in ("sents.*", "ents.*", "spans.*.*")}
_DIALECT = replace(DIALECT, parts=_PARTS, take=_take, fixed=True)
FORMAT = declaration(__name__)
