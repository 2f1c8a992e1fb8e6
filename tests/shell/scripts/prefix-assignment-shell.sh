NODES=3 bash -c 'torchrun --nnodes=$NODES train.py'
