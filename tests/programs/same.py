"""Engine program: always the one child CHILD. Arguments as in none.py."""

import hashlib
import os
import sys
import time

with open(sys.argv[1], "rb") as file:
    digest = hashlib.sha256(file.read()).hexdigest()
log = os.open(os.environ["RUNS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
os.write(log, f"{digest}\n".encode())
time.sleep(float(os.environ["SECONDS"]))
with open(os.path.join(sys.argv[2], "child"), "wb") as file:
    file.write(b"CHILD")
