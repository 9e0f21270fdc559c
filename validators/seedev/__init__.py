"""Rules of SeeDev."""
