"""Scoring of machine translation: METEOR 1.5, BLEU, chrF, chrF++ and TER from sums of counts."""
