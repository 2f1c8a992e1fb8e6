torchrun train.py || :
