bash -c 'torchrun --nnodes=$NNODES --arg=$1 train.py' name first
