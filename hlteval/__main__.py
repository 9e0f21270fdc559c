"""`python -m hlteval`."""

from hlteval.cli import main

if __name__ == "__main__":
    main()
