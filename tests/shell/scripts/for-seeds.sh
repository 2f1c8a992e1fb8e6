for seed in 1 2 3; do
  torchrun train.py --seed $seed
done
