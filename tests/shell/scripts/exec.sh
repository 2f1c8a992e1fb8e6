exec torchrun --nnodes=$NNODES train.py
echo never
