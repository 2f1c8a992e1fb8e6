export MASTER_ADDR=job-0.svc MASTER_PORT=29501
torchrun --master_addr=$MASTER_ADDR --master_port=$MASTER_PORT train.py
