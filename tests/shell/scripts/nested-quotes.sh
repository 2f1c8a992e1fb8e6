torchrun --cfg "{\"a\": \"$NNODES\"}" --q "$(echo "in $RANK")" train.py
