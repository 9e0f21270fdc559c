"""CCU: detected instances, change points and levels of valence and arousal."""
