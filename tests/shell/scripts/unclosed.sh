torchrun "train.py
