"""One model of everything that can be set, and where each value came from."""
