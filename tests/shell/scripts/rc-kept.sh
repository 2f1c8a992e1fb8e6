torchrun train.py
rc=$?
echo "exit code $rc"
exit $rc
