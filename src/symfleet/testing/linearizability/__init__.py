"""Histories of concurrent coordinators at one ledger, and whether one order explains them."""
