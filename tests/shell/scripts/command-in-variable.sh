CMD="torchrun --nnodes=2 train.py"
echo "$CMD"
$CMD
