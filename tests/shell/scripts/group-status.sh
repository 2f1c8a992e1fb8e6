{ echo a; torchrun train.py; }
