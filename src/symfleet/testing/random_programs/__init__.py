"""Random programs with clang and with `symfleet cc`: the same output, and predictions that hold.

A child that the engine made says which branch site it is to leave the other way. Whether it does is
asked of the program without any instrumentation: it is built once more by clang alone, tells its
decisions (`probes.c`), and the first decision in which a child departs from its parent has to be
the one at that site.
"""
