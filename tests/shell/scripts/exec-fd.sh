exec 3>&1
torchrun train.py
