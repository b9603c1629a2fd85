"""Power cuts: what a machine may find on its disk after one, and whether symfleet goes on from it.

`trace` records which system calls a driver program makes, `disk` knows what three models of a file
system may keep of them, `crash_states` enumerates that, `judge` opens each with the real code.
"""
