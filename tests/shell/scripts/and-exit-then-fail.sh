torchrun train.py && exit 0
echo "training failed"
exit 1
