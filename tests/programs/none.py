"""Engine program: no child. Arguments: input, output folder. RUNS: log of
runs; SECONDS: how long to take."""

import hashlib
import os
import sys
import time

with open(sys.argv[1], "rb") as file:
    digest = hashlib.sha256(file.read()).hexdigest()
log = os.open(os.environ["RUNS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
os.write(log, f"{digest}\n".encode())
time.sleep(float(os.environ["SECONDS"]))
