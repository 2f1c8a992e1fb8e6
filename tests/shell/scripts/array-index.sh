HOSTS=(a b c)
torchrun --master_addr=${HOSTS[0]} --nnodes=${#HOSTS[@]} --last=${HOSTS[-1]} train.py
