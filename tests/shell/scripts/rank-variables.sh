export NODE_RANK=${JOB_COMPLETION_INDEX:-0}
export MASTER_ADDR=${JOB_NAME}-0.${SVC}
torchrun --node_rank=$NODE_RANK --rdzv_endpoint="${MASTER_ADDR}:29500" train.py
