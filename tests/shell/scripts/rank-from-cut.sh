IDX=$(echo $HOSTNAME | cut -d'-' -f3)
torchrun --node_rank=$IDX train.py
