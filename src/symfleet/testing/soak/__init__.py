"""A real job that is disturbed for minutes or hours, watched and compared in the end.

`session` runs it; `strikes` and `faults` disturb it; `watch`, `memory` and `slope` look at what it
holds.
"""
