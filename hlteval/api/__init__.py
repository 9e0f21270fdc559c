"""The functions of `import hlteval`: the workflows for a program or a notebook.

Each is in a module named after its workflow. Wherever a path goes, they take a path, an open file,
a `Corpus`, or data frames. Wrong arguments raise `TypeError` or `ValueError` with the name of the
argument, before anything is read.
"""
