for attempt in 1 2 3; do
  torchrun --attempt=$attempt train.py && break
  echo "attempt $attempt failed"
  sleep 1
done
