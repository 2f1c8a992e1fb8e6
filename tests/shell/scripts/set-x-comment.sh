#!/bin/bash
# if this fails, then wait for the other nodes; see `case`
set -x
torchrun train.py # done
