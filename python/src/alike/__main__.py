"""``python -m alike`` is the command ``alike``."""

import os
import subprocess
import sys

from ._binary import binary

if __name__ == "__main__":
    command = [binary(), *sys.argv[1:]]
    if os.name == "nt":  # there a program that takes the place of another one leaves the shell waiting for neither
        sys.exit(subprocess.run(command).returncode)
    os.execv(command[0], command)
