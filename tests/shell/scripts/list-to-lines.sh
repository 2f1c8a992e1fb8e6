FIRST=$(echo $HOST_LIST | tr ',' '\n' | head -n 1)
COUNT=$(echo $HOST_LIST | tr ',' '\n' | wc -l)
torchrun --master_addr=$FIRST --nnodes=$COUNT train.py
