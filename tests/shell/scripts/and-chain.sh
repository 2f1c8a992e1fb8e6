torchrun --first a.py && torchrun --second b.py
