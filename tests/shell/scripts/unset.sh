unset NNODES
torchrun --nnodes=${NNODES:-1} train.py
