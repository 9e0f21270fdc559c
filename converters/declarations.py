"""Formats as files of declarations: `FORMAT = declaration(__name__)` in the module beside the file.

A file has the fields of `Format`, but for functions. The words of a format are a table `words`; its
settings have names, and are tables under their use: `[settings.read.offsets]`. It extends files as
`hlteval.extensions` says. Other fields have defaults:

- `name`: that of the module, with hyphens;
- `carries`: what it has a place for beside what it has words for, `sources` and `documents` unless
  it says so; or "everything";
- `unwritten`: the columns with words that it has no place for: readers give them;
- `by_suffix`: whether of several files those with the first suffix are read;
- `beginning`: a pattern, by which `sniff` looks for the format in the first file that is read;
- `writes`: false where it is only read.

The functions are those of the module that are called as the fields are. If the module has none:

- `documents` are the files with the first suffix, with the layout `per_document`; a format with
  another layout may have `members` instead, which gives the files that are read;
- `tabular` is the declaration `TABLE` of the module, if there is one;
- `read` gives what `read_file` gives of the text of each file, with all settings of reading;
- `locate` gives the cells of this table, or the place that `stretch` gives of a field in its line,
  or whole lines;
- `locate` and `sections` are those of a table of which `heading` gives the columns by the first
  line and the settings, as a `Heading` of `converters.toolkit.cells`;
- `write` writes the rows that `as_rows` gives of a corpus to this table, or the pieces of text that
  `as_text` gives, with the settings of writing, to a file, or the files that `as_files` gives, by
  name, with their content, to a folder;
- `sniff`, `read`, `locate`, `sections` and `write` are those of its `DIALECT`, if there is one: see
  `converters.toolkit.json_annotations`;
- `sniff` looks for the suffixes; of a format with `reads = false`, nothing is found or read.

A `read`, `locate` or `sections` with `**settings` gets all settings of reading, a `write` those of
writing, those that are not set with the defaults that the file declares.

A file may name other functions: `locate = "hlteval.syntax.xml_places:locate_elements"`.
"""

import sys
from functools import partial
from inspect import signature
from itertools import chain

import msgspec
from msgspec.structs import replace

from hlteval.converters import ALL, read_declaration
from hlteval.converters.format import EVERYTHING, Format, one_table
from hlteval.converters.toolkit.cells import locate_by_heading, sections_by_heading
from hlteval.converters.toolkit.source_files import (
    documents,
    has_beginning,
    has_suffix,
    locate_lines,
    locate_nowhere,
    located_cells,
    read_files,
    with_suffix,
    write_files,
    write_pieces,
)
from hlteval.extensions import Tables, make_function
from hlteval.syntax.tsv import Table

#: The fields of a format that are functions of its module.
_FUNCTIONS = (
    "sniff",
    "read",
    "locate",
    "write",
    "documents",
    "tabular",
    "count_losses",
    "sections",
)


def declaration(module: str) -> Format:
    """Return the format that a file declares, with the functions of the module beside it.

    Raises:
        msgspec.ValidationError: if the file has something that a format has not, or does not say
            whether the format is written.
    """
    tables, own = read_declaration(module), vars(sys.modules[module])
    functions = {name: own[name] for name in _FUNCTIONS if name in own}
    fields = {**_defaults(tables, own), **functions, **tables}
    if tables["carries"] == ALL:
        fields["carries"] = EVERYTHING
    others = {name: fields.pop(name, None) for name in ("writes", "by_suffix", "beginning")}
    if others["writes"] != ("write" in fields):
        raise msgspec.ValidationError(f"`writes` of {module} does not agree with its `write`")
    form = msgspec.convert(fields, Format, dec_hook=make_function)
    usual: dict[str, dict[str, str]] = {"read": {}, "write": {}}
    for setting in form.settings:
        if not setting.sets:
            usual[setting.of][setting.name.replace("-", "_")] = setting.default
    uses = {"read": "read", "locate": "read", "sections": "read", "write": "write"}
    functions = {name: getattr(form, name) for name, use in uses.items() if usual[use]}
    every = {
        name: partial(function, **usual[uses[name]])
        for name, function in functions.items()
        if function and "settings" in signature(function).parameters
    }
    return replace(form, **every)


def _defaults(tables: Tables, own: Tables) -> dict[str, object]:
    """Return the functions of a format for which its module has none of their names."""
    reads = tables.get("reads", True)
    suffixes, locate = (tuple(tables["suffixes"]), locate_lines) if reads else ((), locate_nowhere)
    by_suffix = partial(with_suffix, suffix=suffixes[0]) if tables.get("by_suffix") else None
    members = own.get("members", by_suffix)
    sniff = partial(has_suffix, suffix=suffixes)
    if beginning := tables.get("beginning"):
        sniff = partial(has_beginning, pattern=beginning, members=members)
    functions: dict[str, object] = {"sniff": sniff, "locate": locate}
    if not reads:
        functions["read"] = lambda _: iter(())
    if isinstance(table := own.get("TABLE"), Table):
        functions |= {"tabular": one_table(table), "locate": partial(located_cells, table=table)}
        if as_rows := own.get("as_rows"):
            functions["write"] = lambda corpora, path: table.write(map(as_rows, corpora), path)
    if read_file := own.get("read_file"):
        every = {"form": tables["name"], "read": read_file, "members": members}
        functions["read"] = partial(read_files, **every)
    if stretch := own.get("stretch"):
        functions["locate"] = partial(locate_lines, span_of=stretch)
    if heading := own.get("heading"):
        functions["locate"] = partial(locate_by_heading, heading=heading)
        functions["sections"] = partial(sections_by_heading, heading=heading)
    if (dialect := own.get("DIALECT")) and dialect.form == tables["name"]:
        names = ("sniff", "read", "locate", "sections", "write")
        functions |= {name: getattr(dialect, name) for name in names}
    if as_text := own.get("as_text"):
        functions["write"] = partial(write_pieces, as_text=as_text)
    if as_files := own.get("as_files"):
        files = chain.from_iterable
        functions["write"] = lambda corpora, path: write_files(files(map(as_files, corpora)), path)
    if tables.get("layout") == "per_document" and suffixes:
        functions["documents"] = partial(documents, suffix=suffixes[0])
    elif members:
        functions["documents"] = lambda source: {"": members(source)}
    return functions
