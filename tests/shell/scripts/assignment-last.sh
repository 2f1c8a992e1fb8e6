OUT=$(torchrun train.py)
