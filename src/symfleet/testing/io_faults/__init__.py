"""I/O faults: every call that a program makes on its files fails once, and what comes of it is
judged. `shim.c` lets the calls fail, `faults` says which, `loop` runs the cases, `programme` starts
the process that has the shim inside."""
