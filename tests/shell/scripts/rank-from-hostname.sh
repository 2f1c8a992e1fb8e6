RANK=${HOSTNAME##*-}
torchrun --node_rank=$RANK train.py
