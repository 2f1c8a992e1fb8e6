torchrun train.py 2>&1 | tee train.log
exit ${PIPESTATUS[0]}
