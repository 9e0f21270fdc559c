"""hlteval: validate, convert and score submissions to shared tasks of human language technology."""

__version__ = "0.1.0"
