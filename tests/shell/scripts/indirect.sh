NAME=NNODES
torchrun --nnodes=${!NAME} train.py
