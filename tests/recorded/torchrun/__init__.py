"""Recorded runs of torchrun: the cases are in `cases`, the results in one file per version of PyTorch.

`python -m tests.recorded.torchrun.record --python PYTHON` runs all cases again with that interpreter's torch. It needs
Linux namespaces, about two hours, and an idle machine, because it also records durations. endings.json has how pods
ended that work on after the others (slow_end.py).
"""
