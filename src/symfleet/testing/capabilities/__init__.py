"""Small programs with one condition each: does the engine reach it, and is nothing else changed?

The programs stand in tests/capabilities/programs. `programs` reads their headers, `building`
compiles them with and without instrumentation, `running` runs them, `exploring` goes through
inputs with symfleet-exec, `judging` puts it together, `page` makes the table of the reference.
"""
