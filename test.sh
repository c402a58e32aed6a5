#!/usr/bin/env bash
# Installs what the tests need, builds, and runs every test: ./test.sh
#
# Fuzz targets first (1,000 runs each), then all tests of the dev preset: fast ones, and those
# against a real Slurm, which need root. Debian 12; 12 to 28 minutes on two cores the first time.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"

packaging/install-packages.sh build page test

ccache=()
if command -v ccache >/dev/null; then ccache=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

for preset in fuzz dev; do
  cmake --preset "$preset" "${ccache[@]}"
  cmake --build --preset "$preset"
done
failed=0
ctest --preset fuzz || failed=1
ctest --preset dev -LE lab || failed=1
ctest --preset dev -L lab -j 4 || failed=1 # these mostly wait for their Slurm
exit "$failed"
