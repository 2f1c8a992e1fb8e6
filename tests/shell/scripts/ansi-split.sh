IFS=$'\n'
torchrun --nnodes=2 train.py
