read -r first rest <<< "$NODE_NAMES"
torchrun --master_addr=$first train.py
