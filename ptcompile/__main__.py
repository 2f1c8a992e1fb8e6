"""`python -m ptcompile`."""

from ptcompile.cli import run

if __name__ == "__main__":
    run()
