torchrun --x=$((NNODES > 1 ? 1 : 0)) --y=$(expr $RANK + 1) --z=$((-7 / 2)) --p=$((2**3)) train.py
