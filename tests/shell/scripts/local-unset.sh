f() { local X; torchrun --x=${X:-empty} a.py; X=7; }
X=1; f; torchrun --x=$X b.py
