# torchrun train.py
echo nothing
