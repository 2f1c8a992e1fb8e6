IFS=',' read -ra HOSTS <<< "$HOST_LIST"
torchrun --master_addr="${HOSTS[0]}" --nnodes=${#HOSTS[@]} train.py
