"""Whole campaigns of the real machines in one thread, over a network, a disk and clocks that lie.

`campaign` runs one; `oracle` keeps the ground truth; `shrinking` makes a failing one short. The
command is `symfleet.testing.simulate`.
"""
