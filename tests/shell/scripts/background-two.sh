python server.py &
torchrun train.py
kill %1
