A=(torchrun --nnodes=2 --x "a b" t.py)
"${A[@]:0:2}" "${A[@]: -1}" ${A[@]:2:2}
