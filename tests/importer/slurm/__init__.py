"""Batch scripts of Slurm. `scripts/` has one file for each shape, and what it is imported as."""
