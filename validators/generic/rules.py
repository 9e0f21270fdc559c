"""The rules of declared tasks, by code."""

from hlteval.validators.rule import Rule

RULES: tuple[Rule, ...] = ()
