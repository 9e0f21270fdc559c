"""Run a command and print the resources that it used as JSON; its output goes nowhere.

    python -I -S launch.py SECONDS COMMAND ...

The peak memory of a process is at least that of the process that started it. This program loads
next to nothing, so the peak that it prints belongs to the command. Python keeps what it compiled,
as it does where a package is installed, whatever the environment says.
"""

import json
import os
import signal
import sys
import time


def main() -> None:
    """Print exit code, CPU and wall time in seconds, and peak memory in megabytes."""
    limit, command = int(sys.argv[1]), sys.argv[2:]
    nowhere = os.open(os.devnull, os.O_RDWR)
    files = [(os.POSIX_SPAWN_DUP2, nowhere, stream) for stream in (0, 1, 2)]
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    child = os.posix_spawnp(command[0], command, environment, file_actions=files)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(limit)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    cpu = usage.ru_utime + usage.ru_stime
    code = os.waitstatus_to_exitcode(status)
    print(json.dumps({"code": code, "cpu": cpu, "wall": wall, "peak": usage.ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
