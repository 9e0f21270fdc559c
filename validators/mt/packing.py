"""Packing of machine translation: documents without folders, named as their input."""

import re

from hlteval.sources import Source
from hlteval.validators.mt.package import SUFFIX
from hlteval.validators.packages import Arranged, arranged

_XML = re.compile(r"(?:\.ltf)?\.xml", re.IGNORECASE)


def arrange(stem: str, source: Source) -> Arranged:  # noqa: ARG001 - the name may be any
    """The XML files without folders, with the suffix of the input.

    Args:
        stem: the name of the archive without its suffix.
        source: the files of the user.
    """
    documents = [member for member in source.members if _XML.search(member.basename)]
    return arranged(source, {member.name: named_as_input(member.basename) for member in documents})


def named_as_input(name: str) -> str:
    """The name of the input of a file.

    Examples:
        >>> named_as_input("NW_X_1.xml"), named_as_input("NW_X_1.ltf.xml")
        ('NW_X_1.ltf.xml', 'NW_X_1.ltf.xml')
    """
    found = _XML.search(name)
    ends = found is not None and found.end() == len(name)
    return f"{name[: found.start()]}{SUFFIX}" if found and ends else name
