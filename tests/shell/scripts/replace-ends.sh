F=a.b.a
torchrun --a=${F/#a/x} --b=${F/%a/x} --c=${F//a/x} --d=${F/a} --e=${F//./-} train.py
