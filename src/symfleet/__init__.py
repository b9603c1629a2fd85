"""Parallel and distributed concolic execution of C and C++ programs."""

from typing import Final

# Here and not from the installed metadata: reading those costs every process a tenth of its start.
__version__: Final = "0.1.0"
