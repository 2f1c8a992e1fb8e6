"""`python -m ptcompile`. Python puts the current directory in front of its path: nothing is
imported from there.
"""

import os
import sys

try:
    here = os.getcwd()
except OSError:  # the current directory was deleted
    here = ""
if sys.path[:1] == [here]:
    del sys.path[0]

from ptcompile.cli import run

if __name__ == "__main__":
    run()
