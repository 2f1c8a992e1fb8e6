f() { local -a A=(--nnodes=2 --x); A+=(y); torchrun "${A[@]}" a.py; }
f
torchrun "${#A[@]}" b.py
