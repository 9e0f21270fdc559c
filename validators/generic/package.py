"""The rule of declared tasks about a submission as a whole."""

from collections.abc import Iterator

from hlteval.findings import Finding, finding
from hlteval.validators.packages import Package


def findings(package: Package) -> Iterator[Finding]:
    """The finding that a submission has files, but no document."""
    if package.submission.members and not package.found:
        yield finding("GEN302", file=package.submission.path)
