"""Rules of LTF and LAF."""
