"""Validators: rules over the representation, and over a submission as a package."""

from hlteval.validators.rule import PLACE, Case, Rule, apply

__all__ = ["PLACE", "Case", "Rule", "apply"]
