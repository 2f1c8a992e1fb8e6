torchrun train.py
exit 0
