let "n = NNODES * 4"
(( m = n + 1 ))
(( n++ ))
torchrun --a=$n --b=$m train.py
