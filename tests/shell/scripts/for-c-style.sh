for ((i=0; i<2; i++)); do
  torchrun --i=$i train.py
done
