"""Rule of HUB-4 about the submission as a package: it is one template set (HUB228)."""

from collections.abc import Collection, Iterator

from hlteval.converters.hub4.templates import FORMAT, begins_set
from hlteval.converters.toolkit.source_files import beginning
from hlteval.findings import Finding, entry
from hlteval.sources import Source
from hlteval.sources.archives import first_names
from hlteval.validators.packages import Package


def findings(package: Package) -> Iterator[Finding]:
    """Report several template sets in a submission, by the names or first lines of its files."""
    source = package.submission
    sets = _sets(source)
    if len(sets) > 1:
        values = {"count": len(sets), "files": first_names(sets)}
        yield entry("HUB228").finding(values, file=source.path)


def _sets(source: Source) -> list[str]:
    """The names of the files that are template sets."""
    return [
        member.name or member.basename
        for member in source.members
        if member.basename.endswith(FORMAT.suffixes) or begins_set(beginning(member))
    ]


def recognize(source: Source) -> str:
    """Describe what only submissions of template sets have, if a source has it.

    Args:
        source: the files.
    """
    return "has the format hub4" if len(_sets(source)) == 1 else ""


def compared_with(form: str, options: Collection[str]) -> str:
    """Describe what a template set is compared with; without a corpus, extents are not."""
    corpus = form == "sgml-corpus" or not {"corpus", "hyp_corpus"}.isdisjoint(options)
    names = ["types, slots and documents compared with the reference"] if form == "hub4" else []
    extents = "extents compared with the corpus" if corpus else "extents not compared (no --corpus)"
    if "slots" in options:
        names.append("types and slots compared with --slots")
    return "; ".join([*names, extents])
