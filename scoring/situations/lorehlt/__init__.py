"""LoReHLT 2019 situation frames: nDCG of situations, and diagnostic metrics of frames.

`ranking_metric` is the metric. It scores `frame_rows`, prepared by `frame_sides` (annotators,
knowledge base, gravity); each family of values has a module, and `scored_frames` has them all.
"""
