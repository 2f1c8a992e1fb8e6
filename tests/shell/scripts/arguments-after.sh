set -- torchrun --nnodes=2 "a b" t.py
exec "${@:1:1}" "${@:2}"
