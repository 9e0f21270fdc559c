"""Regular expressions compiled from the grammars' own rules, for the bulk path.

The grammar is the authority on what a format allows; a pattern made here accepts the same lines,
a hundred times faster. There is one source of truth: whoever changes the grammar has changed the
pattern. A rule qualifies if it is not recursive (repetition is no recursion) and its terminals
use only what the engines of Python, Rust and Lark read alike.
"""

from __future__ import annotations

import re
from functools import cache

from lark import Lark
from lark.grammar import NonTerminal, Rule, Symbol

# Lookaround, backreferences, non-greedy and possessive repetition, and the classes whose meaning
# differs between engines (\d is all of Unicode in some).
_UNSAFE = re.compile(r"\(\?[=!<]|\\[1-9dwsDWSbB]|[*+?}][?+]")


class NotRegular(ValueError):
    """A rule that no regular expression can stand for, with the reason."""


@cache
def compiled(grammar: Lark, rule: str) -> str:
    """The pattern of a rule: unanchored, with a named group for each part that the tree would keep.

    Terminals and rules that stand in the rule itself become groups of that name in lower case;
    rules whose name begins with ``_`` are looked through; inside repetitions there are no groups.

    Raises:
        NotRegular: if the rule is recursive, ignores terminals, or holds an unsafe terminal.
    """
    if grammar.ignore_tokens:
        raise NotRegular("a grammar with %ignore reads more than its rules say")
    return _Compiler(grammar).rule(rule, groups=True, above=())


class _Compiler:
    """The rules and terminals of one grammar, on the way to a pattern."""

    def __init__(self, grammar: Lark) -> None:
        self.terminals = {terminal.name: terminal.pattern.to_regexp() for terminal in grammar.terminals}
        self.rules: dict[str, list[Rule]] = {}
        for rule in grammar.rules:
            self.rules.setdefault(rule.origin.name, []).append(rule)

    def rule(self, name: str, *, groups: bool, above: tuple[str, ...]) -> str:
        """All alternatives of a rule as one pattern."""
        if name in above:
            raise NotRegular(f"rule {name} is recursive")
        alternatives = self.rules[name]
        if name.startswith("__"):
            return self.repetition(name, alternatives, above)
        only = len(alternatives) == 1
        bodies = [
            self.sequence(alternative.expansion, groups=groups and only, above=(*above, name))
            for alternative in alternatives
        ]
        if groups and sum(bool(body) for body in bodies) == 1:
            # An optional part: the groups inside stand once, so they may be kept.
            kept = next(a for a in alternatives if a.expansion)
            body = self.sequence(kept.expansion, groups=True, above=(*above, name))
            return body if only else f"(?:{body})?"
        return bodies[0] if only else f"(?:{'|'.join(bodies)})"

    def repetition(self, name: str, alternatives: list[Rule], above: tuple[str, ...]) -> str:
        """What Lark makes of ``x+`` and ``x*``: a rule of its own that begins with itself."""
        bodies = [a.expansion for a in alternatives if a.expansion[:1] != [NonTerminal(name)]]
        inner = [self.sequence(body, groups=False, above=(*above, name)) for body in bodies]
        return f"(?:{'|'.join(inner)})+"

    def sequence(self, symbols: list[Symbol], *, groups: bool, above: tuple[str, ...]) -> str:
        return "".join(self.symbol(symbol, groups=groups, above=above) for symbol in symbols)

    def symbol(self, symbol: Symbol, *, groups: bool, above: tuple[str, ...]) -> str:
        """One symbol, in a group of its name where the tree would keep it."""
        hidden = symbol.name.startswith("_") or getattr(symbol, "filter_out", False)
        if symbol.is_term:
            body = self.terminal(symbol.name)
        else:
            body = self.rule(symbol.name, groups=groups and hidden, above=above)
        if groups and not hidden:
            return f"(?P<{symbol.name.lower()}>{body})"
        return body

    def terminal(self, name: str) -> str:
        pattern = self.terminals[name]
        if _UNSAFE.search(pattern):
            raise NotRegular(f"terminal {name} uses what the engines read differently: {pattern}")
        return f"(?:{pattern})"
