#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs, uses and removes what scripts/package made, on a Debian that has nothing but Python and NumPy. As root.
#   bare_debian.sh PACKAGES SOURCE
set -euo pipefail
packages=$1
source=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

mmdebstrap --quiet --variant=apt --include=python3-numpy,python3-venv bookworm "$root"
cp "$packages"/*.deb "$packages"/*.whl "$source/examples/networks/fsrcnn_same.yaml" "$root/root"
[ ! -e /etc/resolv.conf ] || cp /etc/resolv.conf "$root/etc"
cat >"$root/root/use.py" <<'EOF'
import sys
import numpy as np
import tessera as ts
from tessera.integrations import executorch, usmp

network = ts.load_network("fsrcnn_same.yaml")
plan = ts.plan(network, ts.Profile(sys.argv[1]), timeout=20)
plan.save("plan.html")
assert ts.Plan.parse(plan.render("json")).check(search=False).accepted
assert ts.allocate(np.array([0, 2, 0]), np.array([3, 9, 9]), np.array([4, 8, 16])).peak == 28
EOF
cp "$source/hw_profiles/edge_npu_1mib.yaml" "$root/root"

chroot "$root" bash -euxc '
  export DEBIAN_FRONTEND=noninteractive HOME=/root
  cd /root
  fails() { if "$@" 2>/dev/null; then exit 1; fi; }
  apt-get update -q >/dev/null
  profile=/usr/share/tessera/hw_profiles/edge_npu_1mib.yaml

  apt-get install -y -q --no-install-recommends ./tessera_*.deb ./python3-tessera_*.deb >/dev/null
  tessera plan fsrcnn_same.yaml --hw $profile --timeout 20 >/dev/null
  python3 use.py $profile
  apt-get purge -y -q --auto-remove tessera python3-tessera >/dev/null
  fails python3 -c "import tessera"
  fails ls /usr/bin/tessera
  fails ls /usr/share/tessera
  fails ls /usr/lib/python3/dist-packages/tessera

  python3 -m venv --system-site-packages venv
  venv/bin/pip install --quiet --no-index ./tessera-*.whl
  venv/bin/python use.py edge_npu_1mib.yaml
  venv/bin/pip uninstall --quiet -y tessera
  fails venv/bin/python -c "import tessera"
'
echo "installed, used, removed: the Debian packages and the wheel"
