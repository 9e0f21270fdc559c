"""The rule of declared tasks about a submission as a whole."""

from collections.abc import Iterator

from hlteval.converters.standoff.conf_findings import read_folders
from hlteval.findings import Finding, finding
from hlteval.validators.packages import Package


def findings(package: Package) -> Iterator[Finding]:
    """The finding that a submission has files, but no document; and those about annotation.conf."""
    members = package.submission.members
    if members and not package.found:
        yield finding("GEN302", file=package.submission.path)
    if any(
        member.basename.endswith(".ann") for files in package.found.values() for member in files
    ):
        for folder in read_folders(members).values():
            yield from folder.own_findings(package.submission.max_per_code)
