torchrun train.py
exit
