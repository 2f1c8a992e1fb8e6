torchrun train.py
code=$?
if (( code != 0 )); then exit $code; fi
echo success
