HOSTS=($NODE_NAMES)
torchrun --master_addr=${HOSTS[0]} --nnodes=${#HOSTS[@]} train.py
