"""Conversions as values: what was read and written, and what was lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hlteval.findings import Findings, Severity
from hlteval.findings.counts import counted
from hlteval.results.verdict import Verdict
from hlteval.results.versions import head
from hlteval.sources import Listed


class ConvertedInput(msgspec.Struct, frozen=True):
    """An input of a conversion.

    Attributes:
        path: its path; `-` for standard input.
        format: its format.
    """

    path: str
    format: str


class Loss(msgspec.Struct, frozen=True):
    """What the output format cannot represent.

    Attributes:
        code: `CNV101` if the format has no place for anything of this kind, else `CNV103`.
        what: what is lost, in the words of the input format, with its number.
        count: how many of these there are.
    """

    code: str
    what: str
    count: int


class Conversion(msgspec.Struct, frozen=True, kw_only=True):
    """A conversion, or the reason why nothing was written.

    Attributes:
        inputs: what was read.
        output: path that was written to; `-` for standard output.
        format: format of the output.
        written: whether the output was written.
        documents: the number of documents that were read.
        contents: what was found in them: numbers by the words of the input formats.
        losses: what the output format cannot represent.
        files: the files that were written, if they are not standard output.
        findings: about the inputs and the losses.
    """

    inputs: tuple[ConvertedInput, ...]
    output: str
    format: str
    written: bool
    documents: int
    contents: Mapping[str, int]
    losses: tuple[Loss, ...] = ()
    files: tuple[Listed, ...] = ()
    findings: Findings = Findings()

    def __repr__(self) -> str:
        forms = " and ".join(dict.fromkeys(each.format for each in self.inputs))
        outcome = counted(len(self.files), "file") if self.written else "nothing written"
        losses = counted(len(self.losses), "loss")
        return f"<Conversion: {forms} to {self.format}, {outcome}, {losses}>"

    @property
    def clean(self) -> bool:
        """Whether the output was written, and the inputs have no errors.

        Examples:
            >>> inputs = (ConvertedInput("a.txt", "text"),)
            >>> Conversion(inputs=inputs, output="b", format="ltf", written=False, documents=0,
            ...            contents={}).clean
            False
        """
        errors = any(finding.severity == Severity.ERROR for finding in self.findings)
        return self.written and not errors

    @property
    def verdict(self) -> Verdict:
        """Its findings in order, as a verdict without a task."""
        return Verdict("", "", self.clean, self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The conversion in plain types, as `hlteval convert --format json` prints it."""
        built: dict[str, Any] = msgspec.to_builtins(
            msgspec.structs.asdict(self) | {"findings": (), "contents": dict(self.contents)}
        )
        verdict = self.verdict
        more = {"counts": verdict.counts, "findings": verdict.findings.to_dict()}
        return {**head("conversion"), **built, **more}
