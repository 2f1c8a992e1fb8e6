"""Batch scripts of Slurm as specs, with what is left behind of each, at its line, and why."""
