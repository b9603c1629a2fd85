"""Be symfleet of another version: arguments are the version and a command line."""

import sys

import symfleet

symfleet.__version__ = sys.argv.pop(1)

from symfleet.cli.main import main  # noqa: E402

main()
