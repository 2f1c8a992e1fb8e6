torchrun train.py &
wait
