torchrun train.py
sleep infinity
