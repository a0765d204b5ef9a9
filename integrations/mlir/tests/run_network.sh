#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a network from linalg on tensors through bufferization, with and without the pass, and compares what it prints.
#   run_network.sh network.mlir TESSERA_MLIR_OPT MLIR_OPT MLIR_CPU_RUNNER LIBRARIES
set -eu
network=$1 tessera=$2 opt=$3 runner=$4 libraries=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$opt" "$network" --inline --symbol-dce --empty-tensor-to-alloc-tensor --one-shot-bufferize=bufferize-function-boundaries --buffer-deallocation \
  --canonicalize -o "$folder/buffers.mlir"
"$tessera" "$folder/buffers.mlir" --tessera-plan-arena -o "$folder/arena.mlir"

run() {
  "$opt" "$1" --convert-linalg-to-loops --lower-affine --convert-scf-to-cf --expand-strided-metadata \
    --lower-affine --convert-arith-to-llvm --convert-memref-to-llvm --convert-func-to-llvm \
    --convert-cf-to-llvm --reconcile-unrealized-casts |
    "$runner" -e main --entry-point-result=void \
      --shared-libs="$libraries/libmlir_runner_utils.so,$libraries/libmlir_c_runner_utils.so" |
    sed 's/base@ = 0x[0-9a-f]*//'
}
run "$folder/buffers.mlir" >"$folder/without"
run "$folder/arena.mlir" >"$folder/with"
cat "$folder/with"
grep -q 'sizes = \[1, 4\]' "$folder/with"
cmp "$folder/without" "$folder/with"
before=$(grep -c 'memref.alloc()' "$folder/buffers.mlir")
after=$(grep -c 'memref.alloc()' "$folder/arena.mlir")
echo "$before allocations became $after; $(grep -c memref.view "$folder/arena.mlir") views"
[ "$after" -lt "$before" ]
