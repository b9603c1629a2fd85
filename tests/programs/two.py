"""Engine program: children A and B for a seed, none for A and B. Arguments as in none.py."""

import hashlib
import os
import sys
import time

with open(sys.argv[1], "rb") as file:
    data = file.read()
log = os.open(os.environ["RUNS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
os.write(log, f"{hashlib.sha256(data).hexdigest()}\n".encode())
time.sleep(float(os.environ["SECONDS"]))
if data not in (b"A", b"B"):
    for name in ("A", "B"):
        with open(os.path.join(sys.argv[2], name), "w") as file:
            file.write(name)
