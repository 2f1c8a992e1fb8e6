cat <<A > a.sh; cat <<B > b.sh
torchrun --a train.py
A
torchrun --b train.py
B
bash a.sh && bash b.sh
