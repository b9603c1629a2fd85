"""The protocol core, sans-IO: frames, delivery, join, decision, quiescence; events in, actions out.

Nothing here opens a file or a socket, starts a thread, sleeps, logs or reads the environment.
"""
