IDX=$(hostname | sed 's/.*-//')
torchrun --node_rank=${IDX} train.py
