"""Exploration of real libraries, built from the distribution's source packages."""
