"""What a command took from a file of defaults, as a value."""

from __future__ import annotations

import msgspec

from hlteval.results.signature import Signature

SIGNED = "defaults"
"""The part of a signature that names the settings that a file of defaults gave."""
_NUMBERS = ("reference", "against", "profile", "encoding")
"""The settings, beside the options of a task, on which numbers depend."""
_OPTIONS = "options."


class Defaults(msgspec.Struct, frozen=True):
    """What a command took from a file of defaults.

    Attributes:
        file: path of the file.
        names: the names of the settings, in the order of the file; options begin with `options.`.
    """

    file: str
    names: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """Which file gave what, in one line.

        Examples:
            >>> Defaults("hlteval.toml", ("task", "options.mode")).note
            'defaults from hlteval.toml: task, options.mode'
        """
        return f"defaults from {self.file}: {', '.join(self.names)}"

    @property
    def of_numbers(self) -> tuple[str, ...]:
        """The names of those that numbers depend on, as signatures have them."""
        return tuple(
            name.removeprefix(_OPTIONS)
            for name in self.names
            if name in _NUMBERS or name.startswith(_OPTIONS)
        )

    def signed(self, signature: str) -> str:
        """A signature with the names of the settings that this file gave.

        Examples:
            >>> Defaults("hlteval.toml", ("task", "profile")).signed("hlteval:0.1.0|task:hub4")
            'hlteval:0.1.0|task:hub4|defaults:profile'
        """
        if not self.of_numbers:
            return signature
        parts = Signature.parse(signature).parts
        return str(Signature((*parts, (SIGNED, ",".join(self.of_numbers)))))
