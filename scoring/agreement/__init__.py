"""Agreement between annotators: what they judge, and coefficients of how far they agree.

- `units`: what of a corpus is a unit, and what a category, as tasks declare it.
- `ratings`: units and annotators as a matrix.
- `kappa`, `alpha`, `concordance`: the coefficients, from sums that add over documents.
- `coefficients`: which coefficients fit which scale.
"""
