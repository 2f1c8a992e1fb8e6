torchrun --nnodes=4 \ --nproc=8 train.py
