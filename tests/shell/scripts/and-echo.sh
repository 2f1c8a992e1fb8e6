torchrun train.py && echo ok
