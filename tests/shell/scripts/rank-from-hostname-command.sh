NODE_RANK=$(hostname | awk -F- '{print $NF}')
torchrun --node_rank=$NODE_RANK train.py
