IDX=$(hostname | grep -oE '[0-9]+$')
torchrun --node_rank=${IDX} train.py
