"""Scoring of LoReHLT 2019 situation frames.

`metric` is where to begin: it scores the rows of `frame_rows`. `plan` has all values in the order
of section 16.3; `frames` has the gravity and the classes of frames, and `ranking` nDCG. What the
public scorer does otherwise is in `official` and `official_frames`.
"""
