MASTER=$(echo "$HOST_LIST" | cut -d, -f1)
torchrun --master_addr=$MASTER train.py
