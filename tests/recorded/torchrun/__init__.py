"""What torchrun did, recorded: `cases` says what was played, a file for each version of PyTorch how it ended.

`python -m tests.recorded.torchrun.record --python PYTHON` plays all cases anew with that interpreter's torch. It needs
Linux namespaces, about half an hour, and a machine that is not busy: what is recorded are seconds too.
"""
