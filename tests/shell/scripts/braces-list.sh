torchrun --data={a,b,c}.bin --x{1..3} pre{,fix} {a,b}{1,2} "{q,r}" {single} train.py
