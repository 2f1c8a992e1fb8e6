N=2; torchrun {1..$N} /data/{$N,3}/x ${N}{a,b} train.py
