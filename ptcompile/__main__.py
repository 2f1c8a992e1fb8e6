"""`python -m ptcompile`. Python puts the current directory in front of its path: nothing is imported from there."""

import os
import sys

if sys.path and sys.path[0] == os.getcwd():
    del sys.path[0]

from ptcompile.cli import run

if __name__ == "__main__":
    run()
