sleep infinity
torchrun train.py
