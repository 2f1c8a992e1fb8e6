printf '%s\n' a b > list
while IFS= read -r line; do echo "$line"; done < list
torchrun train.py
