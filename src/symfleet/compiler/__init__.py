"""`symfleet cc` and `symfleet c++`: clang with the pass and the runtime added.

A build starts this thousands of times, so it imports a few small modules of the standard library,
decides, and becomes clang.
"""
