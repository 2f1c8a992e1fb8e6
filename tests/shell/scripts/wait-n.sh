torchrun --a train.py &
torchrun --b train.py &
wait -n
