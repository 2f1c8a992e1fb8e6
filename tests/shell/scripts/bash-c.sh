bash -c "torchrun --nnodes=$NNODES train.py"
