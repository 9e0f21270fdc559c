"""The language server: findings in an editor while a file is being made.

The process that the editor starts (`editor`) keeps the texts and answers at once; a process of its
own (`worker`) validates. `actions` is what this one does, as functions of values.
"""
