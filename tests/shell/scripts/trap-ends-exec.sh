trap 'torchrun never.py' EXIT
exec torchrun train.py
