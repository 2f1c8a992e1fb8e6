: "${NNODES:?nodes}"
torchrun --nnodes=$NNODES train.py
