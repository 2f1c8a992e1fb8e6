IFS=, read -ra H <<< "$HOST_LIST"
torchrun --master_addr=${H[0]} --n=${#H[@]} train.py
