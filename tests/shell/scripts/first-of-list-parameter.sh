torchrun --master_addr=${HOST_LIST%%,*} train.py
