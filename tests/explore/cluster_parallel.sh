#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cluster_parallel.sh TESSERA SOURCE: pieces by GNU parallel make the document of one process.
set -eu
export TESSERA=$1
source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
. "$source/tests/explore/cluster_space.sh"
"$source/examples/cluster/parallel.sh" space.yaml 3 2 > /dev/null
"$TESSERA" explore export space.db --canonical | cmp - whole.json
