torchrun train.py &
