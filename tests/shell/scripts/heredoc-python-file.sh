cat > train.py <<'PY'
import os
if os.environ.get("RANK") == "0":
    print("case esac done")
PY
torchrun train.py
