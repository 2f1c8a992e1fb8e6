WORLD=$((NNODES * 8))
torchrun --world=$WORLD --next=$(( $RANK + 1 )) --port=$((29500+10#08)) --half=$((NNODES/2)) train.py
