"""A fleet of any size in virtual time: real coordinators, measured costs, slots of numbers."""
