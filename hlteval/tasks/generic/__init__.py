"""Tasks in files: their declarations read, checked, made into tasks, and drafted from data."""
