"""Edge sets of a program, and which program they belong to."""
