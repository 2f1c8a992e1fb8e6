! torchrun train.py
