"""What is open already, under a name that represents it wherever a path goes."""

from __future__ import annotations

from typing import Self

from hlteval.sources.source import Source


class OpenInput(str):
    """The name of an open file, a corpus or a table, with its source.

    It is text in messages, and `open_source` returns its source: whatever takes a path takes it.

    Args:
        source: the source.
        decoded: whether its bytes are UTF-8 whatever the encoding of other files is.
        name: the name; by default that of the source.

    Examples:
        >>> name = OpenInput(Source("<stream>", "stdin", ()))
        >>> name, name.in_encoding("latin-1").kind
        ('<stream>', 'stdin')
    """

    __slots__ = ("_decoded", "_source")
    _source: Source
    _decoded: bool

    def __new__(cls, source: Source, *, decoded: bool = False, name: str = "") -> Self:  # noqa: D102 - see the class
        self = super().__new__(cls, name or source.path)
        self._source, self._decoded = source, decoded
        return self

    def in_encoding(self, encoding: str) -> Source:
        """The source, with an encoding of its files.

        Raises:
            LookupError: for an unknown encoding.
        """
        return self._source if self._decoded else self._source.with_encoding(encoding)
