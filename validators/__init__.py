"""Validators: rules over the representation, and over a submission as a package.

Every family has the same shape: `rules.py` is the table of its rules by code, `schema.py` is what
its tasks allow, `tables.py` has what several rules use, and `package.py` checks the files
of a submission. The rules themselves are in files by subject.
"""

from hlteval.validators.rule import PLACE, Rule, RuleContext, apply

__all__ = ["PLACE", "Rule", "RuleContext", "apply"]
