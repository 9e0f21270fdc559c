"""Agreement between annotators: measures, coefficients and differences."""
