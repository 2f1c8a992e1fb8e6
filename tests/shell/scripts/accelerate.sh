accelerate launch --num_machines $NNODES --machine_rank $RANK --main_process_ip $MASTER_ADDR train.py
