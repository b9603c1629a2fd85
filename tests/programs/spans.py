"""Engine program: no child; logs when it began and ended (monotonic seconds, system-wide)."""

import os
import sys
import time

log = os.open(os.environ["RUNS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
began = time.monotonic()
time.sleep(float(os.environ["SECONDS"]))
os.write(log, f"{began}\n{time.monotonic()}\n".encode())
assert os.path.exists(sys.argv[1])
