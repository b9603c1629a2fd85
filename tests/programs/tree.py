"""Engine program: a finite graph of NODES nodes with shared children. The input is a number; what
it yields depends on nothing else. Arguments as in none.py."""

import hashlib
import os
import sys
import time

with open(sys.argv[1], "rb") as file:
    data = file.read()
log = os.open(os.environ["RUNS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
os.write(log, f"{hashlib.sha256(data).hexdigest()}\n".encode())
time.sleep(float(os.environ["SECONDS"]))
node = int(data)
nodes = int(os.environ.get("NODES", "150"))
for child in {2 * node + 1, 2 * node + 2, (7 * node + 3) % nodes}:
    if child < nodes:
        with open(os.path.join(sys.argv[2], str(child)), "w") as file:
            file.write(str(child))
