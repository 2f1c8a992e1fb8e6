printf '1\n2\n' | while read n; do
  torchrun --n=$n train.py
done
