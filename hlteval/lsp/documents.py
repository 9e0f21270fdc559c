"""Open documents: their texts, as the editor changes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hlteval.lsp.buffers import Buffer
from hlteval.lsp.text import Range, Text, Units
from hlteval.lsp.uris import key


@dataclass(frozen=True)
class Change:
    """A change of a text.

    Attributes:
        put: the text that is put in place.
        place: the range that it replaces; None for the whole text.
    """

    put: str
    place: Range | None = None


@dataclass(frozen=True)
class Document:
    """An open document, at one version.

    Attributes:
        uri: as the editor writes it.
        version: number of its version.
        text: the text.
        saved: how the file was, when it was opened or saved.
        changed: whether it was changed since.
    """

    uri: str
    version: int
    text: Text
    saved: Buffer
    changed: bool = False

    @classmethod
    def opened(cls, uri: str, version: int, text: str, units: Units) -> Document:
        """A document as it is opened."""
        return cls(uri, version, Text.of(text, units), Buffer.beside(text, key(uri)))

    @property
    def key(self) -> str:
        """Its key."""
        return key(self.uri)

    @cached_property
    def buffer(self) -> Buffer:
        """What the worker is sent."""
        return replace(self.saved, text=self.text.content, changed=self.changed)

    def after(self, version: int, changes: Sequence[Change]) -> Document:
        """The document after changes, each of which is made after the one before."""
        text = self.text
        for change in changes:
            if change.place is None:
                text = Text.of(change.put, text.units)
            else:
                text = text.changed(change.place, change.put)
        return replace(self, version=version, text=text, changed=True)

    def as_saved(self) -> Document:
        """The document after it was saved."""
        content = self.text.content
        return replace(self, saved=Buffer.beside(content, self.key), changed=False)
