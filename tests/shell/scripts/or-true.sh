torchrun train.py || true
