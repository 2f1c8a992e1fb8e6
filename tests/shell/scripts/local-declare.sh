X=1
f() { declare X=2; typeset -i Z=4; declare -g W=5; torchrun --x=$X --z=$Z inner.py; }
f
torchrun --x=$X --z=${Z:-none} --w=$W outer.py
