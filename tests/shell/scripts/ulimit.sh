ulimit -n 1024
torchrun train.py
