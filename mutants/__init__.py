"""Small changes of the scoring code, each of which a test must notice; see mutants/__main__.py."""
