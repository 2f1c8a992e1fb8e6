R=$(expr $RANK + 1)
torchrun --node_rank=$R --x=$(expr 7 - 2) --y=`expr $NNODES \* 4` train.py
