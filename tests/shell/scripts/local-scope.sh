X=1
f() { local X=2 Y=3; torchrun --x=$X --y=$Y inner.py; g; }
g() { torchrun --x=$X g.py; }
f
torchrun --x=$X --y=${Y:-none} outer.py
