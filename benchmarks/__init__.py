"""Measurements: each writes a dated file into results/."""
