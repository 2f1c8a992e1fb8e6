deepspeed --num_nodes $NNODES --no_ssh --node_rank $RANK --master_addr $MASTER_ADDR train.py --deepspeed ds.json
