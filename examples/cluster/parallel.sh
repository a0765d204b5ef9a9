#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# parallel.sh SPEC [PIECES [JOBS]]: an exploration by GNU parallel, merged into SPEC.db.
#
# With more pieces than jobs the load is even although costs are only predicted. Run again after an
# interruption: finished pairs are in the stores.
set -eu
spec=$1
pieces=${2:-8}
jobs=${3:-$(nproc)}
here=$(dirname "$0")
name=$(basename "$spec" .yaml)
seq "$pieces" | parallel --will-cite --jobs "$jobs" \
  "$here/piece.sh" "$spec" "{}/$pieces" "$name.{}.db" || echo "some pieces failed" >&2
"${TESSERA:-tessera}" explore merge $(seq -f "$name.%g.db" "$pieces") --output "$name.db"
