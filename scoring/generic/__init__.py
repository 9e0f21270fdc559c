"""Tasks that anybody can declare in a file, by unit: mentions, relations and others.

A module a unit, with its metric and its `Options`, a frozen dataclass whose fields are called as
the keys of a declaration are (`span`, `threshold`, `average`, `macro_over`, …): a key that is no
field of it has no effect in that unit. Hyphens of keys are underscores. Modules that begin with
`official` are equal to a public tool, which is the preset.
"""
