set -e
for seed in 1 2; do
  torchrun train.py --seed $seed
done
echo done
