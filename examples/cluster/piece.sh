#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# piece.sh SPEC I/N STORE: one piece of an exploration.
#
# A process that is killed or runs out of memory is started again, twice. A pair that ends two of
# them is then recorded as failed, and the rest is planned. Other ends are final: 0 all planned, 11 a
# pair failed, 3 bad input, 130 interrupted.
set -u
for try in 1 2 3; do
  "${TESSERA:-tessera}" explore "$1" --shard "$2" --store "$3" --threads "${THREADS:-1}"
  code=$?
  case $code in
    0 | 2 | 3 | 11 | 130) exit "$code" ;;
  esac
  echo "piece $2 ended with code $code, try $try of 3" >&2
done
exit "$code"
