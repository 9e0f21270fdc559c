"""LoReHLT 2019 situation frames: nDCG of situations, and diagnostic metrics of frames.

`metric` is where to begin: it scores the rows of `frame_rows`, prepared by `frame_sides`
(annotators, knowledge base, gravity). `frame_scores` has all values; situations are ranked in
`ranking`, frames compared in `frame_matches`. These follow the plan; the modules whose names begin
with `official` have the steps that the public scorer does in another way.
"""
