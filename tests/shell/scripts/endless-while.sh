torchrun train.py
while true; do sleep 3600; done
