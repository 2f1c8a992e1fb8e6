torchrun --sep=$'a\tb' --line=$'x\ny' --quote=$'it\'s' --hex=$'\x41' train.py
