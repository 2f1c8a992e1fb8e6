torchrun train.py
rc=$?
[ $rc -eq 0 ] || exit $rc
touch done
