"""The command line: one module for each verb, no logic of its own."""
