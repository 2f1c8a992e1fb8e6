i=0
((i++))
i=$((i+1))
torchrun --i=$i train.py
