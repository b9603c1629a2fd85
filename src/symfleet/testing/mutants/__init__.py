"""Planted faults: what a test must not let pass. Nothing in the product knows of them."""
