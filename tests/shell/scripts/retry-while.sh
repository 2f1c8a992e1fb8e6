while true; do
  torchrun train.py && break
  exit 7
done
