torchrun --a="${A:-"two words"}" --b=${B:-'x y'} --c="${C:-$RANK}" train.py
