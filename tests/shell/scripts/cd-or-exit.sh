cd . || exit 1
torchrun train.py
