"""Recorded runs of torchrun: the cases are in `cases`, the results in one file per version of PyTorch.

`python -m tests.recorded.torchrun.record --python PYTHON` runs all cases again with that interpreter's torch. It needs
Linux namespaces, about half an hour, and an idle machine, because it also records durations.
"""
