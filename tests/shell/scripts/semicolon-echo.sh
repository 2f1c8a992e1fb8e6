torchrun train.py; echo finished
