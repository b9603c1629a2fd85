"""Inputs on their way in (admission) and out (projection into files)."""
