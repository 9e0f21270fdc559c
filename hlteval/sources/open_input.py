"""What is open already, under a name that stands for it wherever a path goes."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from hlteval.sources.source import Source


class OpenInput(str):
    """The name of an open file, a corpus or a table, with its source.

    It is text in messages, and `open_source` returns its source: whatever takes a path takes it.

    Args:
        source: the source, whose path is the name.
        decoded: whether its bytes are UTF-8 whatever the encoding of other files is.

    Examples:
        >>> name = OpenInput(Source("<stream>", "stdin", ()))
        >>> name, name.in_encoding("latin-1").kind
        ('<stream>', 'stdin')
    """

    __slots__ = ("_decoded", "_source")
    _source: Source
    _decoded: bool

    def __new__(cls, source: Source, *, decoded: bool = False) -> Self:  # noqa: D102 - see the class
        name = super().__new__(cls, source.path)
        name._source, name._decoded = source, decoded
        return name

    def in_encoding(self, encoding: str) -> Source:
        """The source, with an encoding of its files.

        Raises:
            LookupError: for an unknown encoding.
        """
        return self._source if self._decoded else self._source.with_encoding(encoding)

    def renamed(self, name: str) -> OpenInput:
        """The same source under another name, where several have the same."""
        return OpenInput(replace(self._source, path=name), decoded=self._decoded)
