torchrun train.py > >(cat > out.log) 2>&1
