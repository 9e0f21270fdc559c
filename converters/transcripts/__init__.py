"""Transcripts of speech: segments as lines, and those of STM and CTM with their times."""
