torchrun train.py &
while pgrep nothing-like-this; do sleep 1; done
wait
