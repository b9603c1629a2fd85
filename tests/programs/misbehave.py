"""Program that does what the input says: exit, crash, sleep, spin, print, flood, daemon, crowd,
odd, lose."""

import contextlib
import os
import shutil
import signal
import sys
import time

with open(sys.argv[1], "rb") as file:
    word, _, rest = file.read().decode().partition(" ")
out = sys.argv[2]
match word:
    case "exit":
        sys.exit(int(rest))
    case "signal":
        os.kill(os.getpid(), int(rest))
    case "sleep":
        time.sleep(60)
    case "spin":
        while True:
            pass
    case "print":
        for _ in range(int(rest)):
            os.write(1, b"x" * 65536)
    case "flood":
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        with open(os.path.join(out, "large"), "wb") as file:
            while True:
                file.write(b"x" * 65536)
    case "daemon":
        if os.fork() == 0:
            os.setsid()
            with open(rest, "w") as file:
                file.write(str(os.getpid()))
            time.sleep(60)
            os._exit(0)
        while not (os.path.exists(rest) and os.path.getsize(rest)):
            time.sleep(0.001)
    case "crowd":
        for _ in range(2000):
            if os.fork() == 0:
                if rest == "apart":
                    os.setsid()
                time.sleep(60)
                os._exit(0)
        time.sleep(60)
    case "many":
        for number in range(int(rest)):
            with open(os.path.join(out, f"{number:04}"), "w") as file:
                file.write(str(number))
    case "odd":
        os.mkfifo(os.path.join(out, "fifo"))
        os.symlink("/etc/passwd", os.path.join(out, "link"))
        os.mkdir(os.path.join(out, "folder"))
        for name in ("first", "second"):
            with open(os.path.join(out, name), "w") as file:
                file.write("twin")
    case "lose":  # what it was given: the folder of its output, that around it, its input
        with open(os.path.join(out, "child"), "w") as file:
            file.write("child")
        place = {"input": sys.argv[1], "around": os.path.dirname(out)}.get(rest.split()[0], out)
        match rest.split()[1]:
            case "closed":
                os.chmod(place, 0)
            case "deep":
                os.chdir(place)
                for _ in range(3000):
                    with contextlib.suppress(FileExistsError):
                        os.mkdir("x" * 50)
                    os.chdir("x" * 50)
            case how:
                shutil.rmtree(place) if os.path.isdir(place) else os.unlink(place)
                if how == "file":
                    open(place, "w").close()
                elif how == "folder":
                    os.makedirs(os.path.join(place, "inner"))
                elif how != "gone":
                    os.symlink(how, place)
        if rest.endswith("crash"):
            os.kill(os.getpid(), signal.SIGSEGV)
    case "log":
        sys.stderr.write(rest)
        os.kill(os.getppid(), signal.SIGKILL)
