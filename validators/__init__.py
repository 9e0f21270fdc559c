"""Validators: rules over the representation, and over a submission as a package."""

from hlteval.validators.rule import PLACE, Rule, RuleContext, apply

__all__ = ["PLACE", "Rule", "RuleContext", "apply"]
