env A=1 torchrun --nnodes=2 train.py
