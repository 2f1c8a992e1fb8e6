python -m torch.distributed.run --nnodes=$NNODES train.py
