{ torchrun train.py; echo $?; } > log.txt
