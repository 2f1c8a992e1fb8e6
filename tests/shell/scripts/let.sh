let n=NNODES*2
torchrun --n=$n train.py
