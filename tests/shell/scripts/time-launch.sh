time torchrun train.py
