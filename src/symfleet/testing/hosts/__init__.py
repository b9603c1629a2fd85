"""Hosts that are network namespaces of this machine: made, reached by a shell of their own,
disturbed.
"""
