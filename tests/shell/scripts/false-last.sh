torchrun train.py || false
