"""Hidden norms (CCU Phase 1 plan, 2.1.6): a system finds one only by what a mapping lists.

Norms that the mapping does not list are not scored as hidden ones, whatever their names; without a
mapping no hidden norm is scored at all.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from hlteval.representation import Corpus

HIDDEN, KNOWN = "hidden", "known"


def hidden_norms(reference: Corpus, system: Corpus, mapping: pl.DataFrame | None) -> frozenset[str]:
    """The norms of the reference that the system can find by a mapping only.

    They are the hidden ones of its list, and others that the mapping names, but for those that are
    listed as known. An annotation that is scored like a system has the list, so it knows them all.

    Args:
        reference: the reference.
        system: the system.
        mapping: `sys_norm` and `ref_norm`; None if there is none.

    Examples:
        >>> listed = [{"row": 0, "entity": "005", "label": "hidden"}]
        >>> listed += [{"row": 1, "entity": "101", "label": "known"}]
        >>> mapping = pl.DataFrame({"sys_norm": ["A1", "A1"], "ref_norm": ["101", "006"]})
        >>> sorted(hidden_norms(Corpus(entities=listed), Corpus(), mapping))
        ['005', '006']
    """
    hidden = _listed(reference, HIDDEN) - _listed(system, HIDDEN)
    targets = set() if mapping is None else {*mapping["ref_norm"]}
    return frozenset(hidden | (targets - _listed(reference, KNOWN)))


def _listed(corpus: Corpus, disclosure: str) -> set[str]:
    return {*corpus.entities.filter(pl.col("label") == disclosure)["entity"].drop_nulls()}


def unlisted(
    system: pl.DataFrame, hidden: Collection[str], mapping: pl.DataFrame | None
) -> pl.DataFrame:
    """The instances of a system that have the name of a hidden norm, and that nothing maps.

    Args:
        system: instances, with their `label`.
        hidden: the hidden norms.
        mapping: `sys_norm` and `ref_norm`; None if there is none.
    """
    mapped = [] if mapping is None else mapping["sys_norm"].to_list()
    return system.filter(pl.col("label").is_in(list(hidden)), ~pl.col("label").is_in(mapped))


def in_plan_classes(
    system: pl.DataFrame, hidden: Collection[str], mapping: pl.DataFrame | None
) -> pl.DataFrame:
    """Instances with the `class` in which each is scored: its own, and hidden norms by the mapping.

    A mapping changes nothing for norms that are not hidden.

    Args:
        system: instances, with their `label`.
        hidden: the hidden norms.
        mapping: `sys_norm` and `ref_norm`; None if there is none.

    Examples:
        >>> rows = pl.DataFrame({"label": ["A1", "101", "006"], "llr": [1.0, 2.0, 3.0]})
        >>> pairs = [("A1", "005"), ("101", "005"), ("A1", "101")]
        >>> mapping = pl.DataFrame(pairs, ["sys_norm", "ref_norm"], orient="row")
        >>> in_plan_classes(rows, {"005", "006"}, mapping)["class"].to_list()
        ['A1', '101', '005', '005']
    """
    is_hidden = pl.col("class").is_in(list(hidden))
    own = system.with_columns(pl.col("label").alias("class")).filter(~is_hidden)
    if mapping is None:
        return own
    pairs = mapping.select(label="sys_norm", **{"class": "ref_norm"}).filter(is_hidden).unique()
    found = system.join(pairs, on="label", maintain_order="left")
    return pl.concat([own, found.select(own.columns)])
