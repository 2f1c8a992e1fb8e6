torchrun --nnodes=2 train.py &
pid=$!
trap 'kill -TERM $pid' TERM
wait $pid
