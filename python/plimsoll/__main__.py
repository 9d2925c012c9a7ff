"""python -m plimsoll is the command plimsoll."""

import os
import subprocess
import sys

from . import binary


def main() -> int:
    command = [binary(), *sys.argv[1:]]
    if sys.platform != "win32":
        os.execv(command[0], command)
    return subprocess.call(command)


if __name__ == "__main__":
    sys.exit(main())
