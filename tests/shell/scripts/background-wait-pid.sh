torchrun train.py &
PID=$!
echo "started $PID"
wait $PID
