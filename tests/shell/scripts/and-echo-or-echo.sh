torchrun train.py && echo ok || echo failed
