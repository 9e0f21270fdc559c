"""Rules of tasks that are declared in files."""
