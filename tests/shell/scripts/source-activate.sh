. /opt/conda/bin/activate
torchrun --nnodes=$NNODES train.py
