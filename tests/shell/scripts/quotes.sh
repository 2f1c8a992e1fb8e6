torchrun --a='$NNODES' --b="$NNODES" --c="it's" --d='say "x"' --e=\$RANK --f="\$RANK" train.py
