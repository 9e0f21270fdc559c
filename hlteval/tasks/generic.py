"""Tasks in files: a built-in task with the options, formats and labels that a file declares."""
