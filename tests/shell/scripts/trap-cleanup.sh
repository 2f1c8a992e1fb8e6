trap 'echo bye' EXIT
torchrun train.py
