n=3; torchrun --a=${HOSTNAME:n:2} --b=${HOSTNAME:$n} --c=${HOSTNAME:n+1:n} --d=${HOSTNAME:99} t.py
