source /opt/nothing/env.sh
torchrun --nnodes=2 --rank=$RANK train.py
