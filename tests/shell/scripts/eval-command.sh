CMD="torchrun --nnodes=2 train.py"
eval $CMD
