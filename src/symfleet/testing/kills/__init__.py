"""Deaths and other ends: at crash points (`matrix`, `mpi_points`), at random (`loop`), of parts of
a layout (`layout_faults`), and what must hold afterwards.
"""
