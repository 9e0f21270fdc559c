"""The language server: findings in an editor while a file is being made.

The process that the editor starts (`editor`) keeps the texts and answers at once; a process of its
own (`worker`) validates. `actions` is what this one does, as functions of values.

The language server (`hlteval/lsp`) never validates in its own process: a worker does, from
buffers laid over the files of the disk (`documents.py`), and an order whose text has changed since
is dropped. `Session` has the whole state and waits for nothing, so that tests and fuzzing
(`fuzz/editor.py`) need no process.
"""
