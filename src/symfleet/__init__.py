"""Parallel and distributed concolic execution of C and C++ programs."""
