torchrun train.py &
pid=$!
wait $pid
rc=$?
exit $rc
