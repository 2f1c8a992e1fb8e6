mkdir -p work && cd work && torchrun train.py
