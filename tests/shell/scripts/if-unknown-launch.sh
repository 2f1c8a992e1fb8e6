if [ -f resume.ckpt ]; then
  torchrun --resume resume.ckpt train.py
else
  torchrun train.py
fi
