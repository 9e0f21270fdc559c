"""Read files, and all files of folders, and do nothing else: the floor of every benchmark.

Loading `pathlib` would cost more than the reading.

python -I -S read_bytes.py PATH ...
"""

import os
import sys


def read(path: str) -> None:
    """Read a file, or the files of a folder and of its folders."""
    if os.path.isdir(path):  # noqa: PTH112
        with os.scandir(path) as entries:
            for entry in entries:
                read(entry.path)
        return
    with open(path, "rb", buffering=0) as stream:  # noqa: PTH123
        stream.read()


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        read(argument)
