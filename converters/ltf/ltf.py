r"""LTF: documents as segments and tokens with offsets, as in LDC's language packs.

Format:
    XML as defined in grammars/ltf.rng, one file `<document>.ltf.xml` per document: DOC, TEXT, SEG
    with ORIGINAL_TEXT and TOKENs. Written in LDC's layout, one element per line, with only `&`, `<`
    and `>` escaped. DOC has the length and MD5 digest of the annotated text.

Conventions:
    `start_char` and `end_char` are 0-based code points of the document's text; the end is inclusive
    (exclusive in the tables). The text is rebuilt from the segments; gaps between them are filled
    with line feeds. A record is an element, counted by start tags from 1.

Example lines:
    <SEG id="segment-0" start_char="1" end_char="5">
    <ORIGINAL_TEXT>AT&amp;T?</ORIGINAL_TEXT>
    <TOKEN id="token-0-0" pos="unknown" morph="none" start_char="1" end_char="4">AT&amp;T</TOKEN>
    <TOKEN id="token-0-1" pos="punct" morph="none" start_char="5" end_char="5">?</TOKEN>
    </SEG>

Codes raised: XML1xx, LTF1xx.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.ltf import tables
from hlteval.converters.ltf.rsd import UNWRITABLE, lines, tokens
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.source_files import beginning, head
from hlteval.findings import Problem, finding
from hlteval.representation import Corpus
from hlteval.sources import Source, is_file_path
from hlteval.syntax.xml_elements import Doctype, Element, doctype_problem, examine
from hlteval.syntax.xml_places import (
    ABSENT,
    Named,
    attribute,
    attributes,
    content,
    escape,
    located_findings,
    start_tag,
)

_NUMBER = re.compile("[0-9]{1,9}")
_DOCTYPE = Doctype("LCTL_TEXT", "ltf.v1.5.dtd")
SUFFIX = ".ltf.xml"
#: The attributes of the schema that no column of a table has.
_NAMES = {
    "LCTL_TEXT": ("lang", "source_file", "source_type", "author", "encoding"),
    "DOC": ("id", "lang", "tokenization", "grammar", tables.LENGTH, tables.MD5),
    "SEG": ("start_token", "end_token"),
    "TOKEN": ("attach", "gloss"),
}
#: The parts with segments; only a TEXT has paragraphs.
_PART = "^(HEADLINE [1-9][0-9]{0,8}|TEXT [1-9][0-9]{0,8}(?: P [1-9][0-9]{0,8})?)$"
#: Other parts, which are attributes of their document; in files that are read, of any number.
_OTHER = "^(DATELINE|AUTHORLINE) [1-9][0-9]{0,8}$"
_PARTS = "^(DATELINE|AUTHORLINE) [0-9]+$"


def read_elements(
    text: str, origin: int, stem: str, encoding: str
) -> tuple[tables.Rows, list[Named]]:
    """The rows of the tables of a file of any layout, and the problems with it.

    This is the reference reader; `bulk` gives the same tables for the usual layout.

    Args:
        text: the file.
        origin: its number.
        stem: its name without suffixes, for a document without an id.
        encoding: the encoding that it was read in.

    Examples:
        >>> file = "<LCTL_TEXT><DOC id='d'/></LCTL_TEXT>"
        >>> rows, problems = read_elements(file, 0, "d", "utf-8")
        >>> rows["documents"], [problem.code for problem, _ in problems]
        ([(0, 2, 2, 'd')], ['LTF101', 'XML106'])
    """
    found = examine(text, "ltf", encoding)
    prolog = doctype_problem(text, found.parsed, _DOCTYPE, missing="LTF101", other="LTF102")
    problems: list[Named] = [(problem, None) for problem in (*prolog, *found.problems)]
    parts, texts = _parts(found.elements), dict[int, str]()
    for element in found.elements:
        if element.tag == "ORIGINAL_TEXT" and element.parent:
            texts.setdefault(element.parent.ordinal, element.text)
    rows: dict[str, list[tuple[object, ...]]] = {name: [] for name in tables.SCHEMAS}
    holder = segment = 0
    for element in found.elements:
        tag, get = element.tag, element.attributes.get
        if tag == "DOC":
            holder = element.ordinal
            root = None if rows["documents"] else element.parent
            rows["documents"].append((origin, holder, holder, get("id", stem)))
            for each in filter(None, (root, element)):  # the first document has those of its file
                place = (origin, each.ordinal, holder, each.tag)
                rows["attributes"] += [(*place, *pair) for pair in each.attributes.items()]
        key = (origin, element.ordinal, holder)
        if tag in {"DATELINE", "AUTHORLINE"}:
            part = f"{tag} {parts[element.ordinal]}"
            rows["attributes"].append((*key, part, "text", element.text))
        if tag not in {"SEG", "TOKEN"}:
            continue
        names = (name for name in _NAMES[tag] if name in element.attributes)
        rows["attributes"] += [(*key, tag, name, get(name)) for name in names]
        segment = element.ordinal if tag == "SEG" else segment
        if problem := _offset_problem(element):
            problems.append((problem, get("id")))
            kind = "segment" if tag == "SEG" else "token"
            own = (problem.code, kind, get("id"), get("pos"), element.text)
            columns = (problem.start + 1, problem.end + 1)
            rows["rejected_records"].append((*key, *own, *columns, "offsets"))
            continue
        span = (get("id"), int(get("start_char", "")), int(get("end_char", "")) + 1)
        if tag == "SEG":
            rows["segments"].append((*key, *span, texts.get(segment), parts[segment]))
        else:
            classes = (get("pos"), get("morph"))
            rows["tokens"].append((*key, segment, *span, element.text, *classes))
    return rows, problems


def _offset_problem(element: Element) -> Problem | None:
    """The problem with the offsets of a segment or token, if there is one."""
    for name in ("start_char", "end_char"):
        given = element.attributes.get(name)
        if given is None:
            return element.problem("LTF103", attribute=name)
        if not _NUMBER.fullmatch(given):
            given = given[:40] or "(empty)"
            return element.problem("LTF104", name, attribute=name, given=given)
    return None


def _parts(elements: list[Element]) -> dict[int, str | None]:
    """The part of the document that contains each element; for a part itself, its number.

    None means the usual part, a single TEXT with segments directly below.
    """
    children: dict[int, list[Element]] = {}
    for element in elements:
        if element.parent is not None:
            children.setdefault(element.parent.ordinal, []).append(element)
    named: dict[int, str | None] = {}
    for document in (element for element in elements if element.tag == "DOC"):
        parts = children.get(document.ordinal, [])
        for number, part in enumerate(parts, start=1):
            name = f"{part.tag} {number}"
            usual = None if len(parts) == 1 and part.tag == "TEXT" else name
            named[part.ordinal] = str(number)
            paragraph = 0
            for element in children.get(part.ordinal, []):
                if element.tag == "SEG":
                    named[element.ordinal] = usual
                elif element.tag == "P":
                    paragraph += 1
                    for segment in children.get(element.ordinal, []):
                        named[segment.ordinal] = f"{name} P {paragraph}"
    return named


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or the only file the root element of LTF.

    Translations have the names of the files that were translated, but another root element.
    """
    named = next((file for file in source.members if file.basename.endswith(SUFFIX)), None)
    return "<LCTL_TEXT" in head(source) if named is None else "<mteval" not in beginning(named)


def read(source: Source) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    for files in source_files.batches(source, FORMAT.name, SUFFIX):
        parts, accepted = tables.bulk([(origin, text) for origin, _, text in files.texts])
        others, findings = dict[str, list[tuple[object, ...]]](), list(files.findings)
        for origin, stem, text in files.texts:
            if origin not in accepted:
                member = files.members[origin]
                rows, problems = read_elements(text, origin, stem, member.encoding)
                for name, some in rows.items():
                    others.setdefault(name, []).extend(some)
                findings += located_findings(text, problems, member)
        if others:
            parts = {
                name: pl.concat([parts[name], table]).sort("origin", "record", maintain_order=True)
                for name, table in tables.frames(others).items()
            }
        documents = files.qualify_names(parts["documents"])
        first: dict[str, tuple[int, str]] = {}
        for row, (origin, name) in enumerate(documents.select("origin", "name").iter_rows()):
            file = files.members[origin].display
            earlier = first.setdefault(name, (row, file))
            if earlier[0] != row:
                values = {"name": name, "other": earlier[1]}
                findings.append(finding("LTF105", file=file, record=name, **values))
        kept = {**parts, "documents": documents[[row for row, _ in first.values()]]}
        yield ReadResult(tables.corpus(files.sources, kept), tuple(findings), tuple(files.members))


# Writing: a corpus as LTF can represent it, in LDC's layout.


def fit(corpus: Corpus) -> tuple[Corpus, Mapping[str, int]]:
    """The corpus without offsets, parts and attributes that no LTF file can hold, and their counts.

    Examples:
        >>> place = {"row": 0, "document": 0, "origin": 0, "record": 1, "start": 0, "end": 10**10}
        >>> fit(Corpus(segments=[place]))[1]["segments and tokens with invalid offsets"]
        1
    """
    segments = corpus.segments.filter(tables.writable_offsets())
    held = pl.col("segment_row").is_null() | pl.col("segment_row").is_in(segments["row"].implode())
    tokens = corpus.tokens.filter(tables.writable_offsets() & held)
    gone = corpus.segments.height + corpus.tokens.height - segments.height - tokens.height
    element, name = pl.col("element"), pl.col("name")
    known = [(element == tag) & name.is_in(names) for tag, names in _NAMES.items()]
    known.append(element.str.contains(_OTHER) & (name == "text"))
    attached = (name != "attach") | pl.col("value").is_in(["LEFT", "RIGHT", "BOTH"])
    attributes = corpus.attributes.filter(pl.any_horizontal(known) & attached)
    key = ("document", "origin", "record", "element", "name")
    attributes = attributes.unique(key, keep="first", maintain_order=True)
    irregular = pl.col("document").is_in(_irregular(segments, attributes))
    lost = segments.filter(irregular, pl.col("part").is_not_null()).height
    attributes = attributes.filter(~(irregular & element.str.contains(_OTHER)))
    segments = segments.with_columns(part=pl.when(~irregular).then(pl.col("part")))
    return corpus.replace(segments=segments, tokens=tokens, attributes=attributes), {
        "segments and tokens with invalid offsets": gone,
        "parts of documents that LTF does not have": lost,
        "attributes of other formats": corpus.attributes.height - attributes.height,
    }


def _irregular(segments: pl.DataFrame, attributes: pl.DataFrame) -> list[int]:
    """The documents whose parts are not numbered from 1, each number once."""
    others = attributes.filter(pl.col("element").str.contains(_OTHER)).select("document", "element")
    named = segments.filter(pl.col("part").is_not_null()).select("document")
    divided = pl.concat([others.select("document"), named])
    part = pl.col("part").fill_null("TEXT 1").str.extract(_PART).str.replace(" P .*$", "")
    parts = segments.join(divided, on="document", how="semi").select("document", element=part)
    number = pl.col("element").str.extract(" ([0-9]+)$").cast(pl.Int64)
    is_regular = (number.n_unique() == pl.len()) & (number.max() == pl.len())
    every = pl.concat([parts.unique(), others]).group_by("document")
    documents = every.agg(is_regular=is_regular & number.is_not_null().all())
    irregular: list[int] = documents.filter(~pl.col("is_regular"))["document"].to_list()
    return irregular


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The name and content of every file: those that were read, and new ones.

    A text without segments is split into lines, and these into tokens.
    """
    corpus, _ = corpus.cached(fit)
    without = set().union(*_unwritable(corpus).values())
    paths = source_files.output_paths(corpus, "ltf", SUFFIX, shared=True)
    whole = _with_segments(corpus, without)
    made = set(whole.segments["document"]).difference(corpus.segments["document"])
    known = _attributes(whole)
    segments: dict[int, list[tuple[str | None, str]]] = {}
    for document, part, line in _segment_lines(whole).iter_rows():
        segments.setdefault(document, []).append((part, line))
    files: dict[str, list[str]] = {}
    columns = ("row", "name", "text", "language")
    for row, name, text, language in whole.documents.select(columns).iter_rows():
        if row in without:
            continue
        own = known.get(row, {})
        if paths[row] not in files:
            made_root = [(tables.LANGUAGE, language)] if language and not own else []
            root = attributes(own.get("LCTL_TEXT", made_root))
            files[paths[row]] = [f"{tables.DECLARATION}\n{tables.DOCTYPE}\n<LCTL_TEXT{root}>\n"]
        head = _head(name, text, language, own.get("DOC", ()), simple=row in made)
        others = [(element, pairs[0][1]) for element, pairs in own.items() if " " in element]
        body = _body(segments.get(row, []), others)
        files[paths[row]].append(f"<DOC{attributes(head)}>\n{body}</DOC>\n")
    for path, parts in files.items():
        yield path, "".join([*parts, "</LCTL_TEXT>\n"])


def _unwritable(corpus: Corpus) -> dict[str, set[int]]:
    """The documents that no file can represent, by reason."""
    documents = corpus.documents.with_columns(document="row")
    segmented = corpus.segments["document"]
    silent = corpus.segments.filter(pl.col("text").is_null())["document"]
    is_written = pl.col("row").is_in(segmented.implode()) & ~pl.col("row").is_in(silent.implode())
    odd = tables.documents_with(UNWRITABLE, documents, "name")
    odd |= tables.documents_with(UNWRITABLE, documents.filter(~is_written), "text")
    odd |= tables.documents_with(ABSENT, documents, "language")
    odd |= tables.documents_with(ABSENT, corpus.segments, "name", "text")
    odd |= tables.documents_with(ABSENT, corpus.tokens, "name", "text", "pos", "morph")
    odd |= tables.documents_with(ABSENT, corpus.attributes, "name", "value")
    empty = documents.filter(~pl.col("text").fill_null("").str.contains("[^\n]"))["row"]
    own = _attributes(corpus).items()
    divided = {row for row, elements in own if any(" " in element for element in elements)}
    paths = source_files.output_paths(corpus, "ltf", SUFFIX, shared=True)
    names = documents.select("row", "name").iter_rows()
    nameless = {row for row, name in names if not is_file_path(name)}
    return {
        "documents without text": set(empty).difference(segmented, divided),
        "documents whose name is not a valid file name": nameless,
        "documents whose file another document has": {*documents["row"]} - nameless - paths.keys(),
        "documents with characters not allowed in XML": odd,
    }


def _with_segments(corpus: Corpus, without: set[int]) -> Corpus:
    """The corpus with segments and tokens for the texts without any, but for some documents."""
    done = without.union(corpus.segments["document"])
    first = max(corpus.segments["row"], default=0) + 1
    segments, inside = list[dict[str, object]](), list[dict[str, object]]()
    texts = corpus.documents.filter(~pl.col("row").is_in(list(done))).drop_nulls("text")
    for document, text in texts.select("row", "text").iter_rows():
        place = {"document": document, "origin": 0, "record": 0}
        for start, end in lines(text):
            row = first + len(segments)
            own = {"row": row, "start": start, "end": end, "text": text[start:end]}
            segments.append({**place, **own})
            for s, e, pos in tokens(text, start, end):
                own = {"row": 0, "segment_row": row, "start": s, "end": e, "text": text[s:e]}
                inside.append({**place, **own, "pos": pos, "morph": "none"})
    made = Corpus(segments=segments, tokens=inside)
    segmented = pl.concat([corpus.segments, made.segments])
    return corpus.replace(segments=segmented, tokens=pl.concat([corpus.tokens, made.tokens]))


#: The name and the value of an attribute.
Pair = tuple[str, str]


def _attributes(corpus: Corpus) -> dict[int, dict[str, list[Pair]]]:
    """The attributes of files, documents and parts, by document and element.

    Documents without an `id` are not of LTF, whatever their attributes.
    """
    known: dict[int, dict[str, list[Pair]]] = {}
    of_document = pl.col("element").is_in(["LCTL_TEXT", "DOC"])
    rows = corpus.attributes.filter(of_document | pl.col("element").str.contains(_PARTS))
    columns = ("document", "element", "name", "value")
    for document, element, name, value in rows.select(columns).iter_rows():
        known.setdefault(document, {}).setdefault(element, []).append((name, value))
    return {row: own for row, own in known.items() if "id" in dict(own.get("DOC", ()))}


def _head(
    name: str, text: str | None, language: str | None, own: Sequence[Pair], *, simple: bool
) -> Sequence[Pair]:
    """The attributes of DOC: the original ones, or those known from the document."""
    if own:
        known = {"id": name}
        declared = dict(own).get(tables.LENGTH, "")
        # A reader would fill the text up to a length beyond it.
        if text is not None and declared.isdecimal() and int(declared[:18]) > len(text):
            known[tables.LENGTH] = str(len(text))
        return [(key, known.get(key, value)) for key, value in own]
    head = [("id", name), *([(tables.LANGUAGE, language)] if language else ())]
    head += [("tokenization", "simple"), ("grammar", "none")] if simple else []
    if text is None:
        return head
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    return [*head, (tables.LENGTH, str(len(text))), (tables.MD5, digest)]


def _body(segments: Sequence[tuple[str | None, str]], others: Sequence[tuple[str, str]]) -> str:
    """The content of DOC: usually one TEXT, or parts in the order of their numbers."""
    parts: dict[int, tuple[str, dict[str, list[str]]]] = {}
    for part, line in segments:
        tag, number, *paragraph = (part or "TEXT 1").split(" ")
        inner = parts.setdefault(int(number), (tag, {}))[1]
        key = " ".join(paragraph) or f"SEG {len(inner)}"
        inner.setdefault(key, []).append(line)
    bodies: dict[int, str] = {}
    for order, (tag, inner) in parts.items():
        body = [f"<{tag}>"]
        for key, block in inner.items():
            body += ["<P>", *block, "</P>"] if key.startswith("P ") else block
        bodies[order] = "\n".join([*body, f"</{tag}>\n"])
    for element, text in others:
        tag, number = element.split(" ")
        bodies[int(number)] = f"<{tag}>{escape(text)}</{tag}>\n"
    return "".join(bodies[order] for order in sorted(bodies)) or "<TEXT>\n</TEXT>\n"


def _with_attributes(table: pl.DataFrame, corpus: Corpus, element: str) -> pl.DataFrame:
    """The rows of a table with the attributes specific to LTF as columns."""
    place = ["document", "origin", "record"]
    for name in _NAMES[element]:
        values = corpus.attributes.filter(element=element, name=name)
        values = values.select(*place, pl.col("value").alias(name)).unique(place, keep="first")
        table = table.join(values, on=place, how="left", maintain_order="left")
    return table


def _segment_lines(corpus: Corpus) -> pl.DataFrame:
    """Each segment with its tokens as lines, in order: `document`, `part`, `line`."""
    place = pl.format(' start_char="{}" end_char="{}"', "start", pl.col("end") - 1)
    number = pl.int_range(pl.len()).over("document")
    name = pl.coalesce("name", pl.format("segment-{}", number))
    segments = tables.with_texts(corpus, corpus.segments).with_columns(name=name, number=number)
    numbers = segments.select("number", segment_row="row")
    inside = corpus.tokens.join(numbers, on="segment_row", maintain_order="left")
    ordinal = pl.int_range(pl.len()).over("segment_row")
    name = pl.coalesce("name", pl.format("token-{}-{}", "number", ordinal))
    inside = _with_attributes(inside.with_columns(name=name), corpus, "TOKEN")
    names = ("attach", "pos", "morph", "gloss")
    tag = start_tag("TOKEN", attribute("id", "name"), *map(attribute, names), place)
    token = pl.concat_str(tag, content("text"), pl.lit("</TOKEN>"))
    inside_by = inside.group_by(row="segment_row", maintain_order=True)
    listed = inside_by.agg(tokens=token.str.join("\n"))
    segments = _with_attributes(segments, corpus, "SEG").join(listed, on="row", how="left")
    line = pl.concat_str(
        start_tag("SEG", attribute("id", "name"), *map(attribute, _NAMES["SEG"]), place),
        pl.format("<ORIGINAL_TEXT>{}</ORIGINAL_TEXT>", content("text")),
        "tokens",
        pl.lit("</SEG>"),
        separator="\n",
        ignore_nulls=True,
    )
    return segments.sort("row").select("document", "part", line=line)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the files cannot represent."""
    kept, counts = corpus.cached(fit)
    return {
        **{reason: len(rows) for reason, rows in _unwritable(kept).items()},
        "documents whose text is not covered by segments": tables.unlike(kept).height,
        "tokens outside of segments": kept.tokens["segment_row"].null_count(),
        **counts,
    }


FORMAT = declaration(__name__)
