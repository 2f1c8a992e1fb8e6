"""Hostile input: three harnesses, a mutator that knows YAML, and two engines: `python -m fuzz
--help`.
"""
