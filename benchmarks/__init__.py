"""Speed and memory, as ratios against a neighbour measured in the same minute: `python -m
benchmarks`.
"""
