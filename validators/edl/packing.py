"""Packing of EDL: a flat tarball with one table, which is named like it."""

import re
from collections.abc import Mapping

from hlteval.converters.edl.edl_tab import SUFFIX, files, sniff
from hlteval.sources import Source
from hlteval.validators.packages import Arranged, rename_files

#: The form of the names of submissions.
NAME = re.compile(r"(?P<team>[^_]+)_EDL_(?P<checkpoint>CP[0-9]+)_(?P<run>[^_].*)", re.IGNORECASE)


def arrange(stem: str, source: Source) -> Arranged:
    """The table under the name of the archive; several keep their names.

    Args:
        stem: the name of the archive without its suffix.
        source: the files of the user.
    """
    tables = files(source) if sniff(source) else ()
    if len(tables) == 1:
        return rename_files(source, {tables[0].name: inner_name(stem)})
    return rename_files(source, {member.name: member.basename for member in tables})


def inner_name(stem: str) -> str:
    """The name of the table in an archive.

    Examples:
        >>> inner_name("NIST_EDL_CP1_1.tab"), inner_name("NIST_EDL_CP1_1")
        ('NIST_EDL_CP1_1.tab', 'NIST_EDL_CP1_1.tab')
    """
    return stem if stem.endswith(SUFFIX) else f"{stem}{SUFFIX}"


def name_parts(name: str) -> Mapping[str, str]:
    """The parts of the name of a submission, by what they are.

    Examples:
        >>> name_parts("NIST_EDL_CP1_1.tab")
        {'team': 'NIST', 'checkpoint': 'CP1', 'run': '1', 'task': 'EDL'}
    """
    found = NAME.fullmatch(name.removesuffix(SUFFIX))
    return {} if found is None else {**found.groupdict(), "task": "EDL"}
