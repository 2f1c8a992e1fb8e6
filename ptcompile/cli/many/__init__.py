"""Runs over many files: more than one process, and results kept from one run to the next."""
