torchrun \
  --nnodes=$NNODES \
  --node_rank=$RANK \
  --master_addr=$MASTER_ADDR \
  train.py
