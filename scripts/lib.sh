# Functions and settings of the scripts, to be sourced: packages, the build, MPI settings.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Debian 12 packages, by the parts that need them.
planner_packages=(g++ cmake ninja-build libglpk-dev libeigen3-dev libboost-graph-dev libcli11-dev
  libpugixml-dev libyaml-cpp-dev libgraphviz-dev pkg-config nlohmann-json3-dev libfmt-dev libssl-dev)
mpi_packages=(libopenmpi-dev openmpi-bin libxxhash-dev)
python_packages=(pybind11-dev python3-dev python3-numpy python3-networkx python3-pytest python3-mpi4py)
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev python3 iproute2)
ci_packages=(ccache libsimgrid-dev)
lint_packages=(clang-format clang-tidy lintian)

die() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 1
}

# step TEXT: what begins now, and how many seconds after the first script began.
export ESPALIER_STARTED=${ESPALIER_STARTED:-$EPOCHSECONDS}
step() { printf '\n== %s (%d s so far)\n' "$1" "$((EPOCHSECONDS - ESPALIER_STARTED))"; }

# Prints the named packages that are not installed, one per line.
missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      printf '%s\n' "$package"
  done
}

# Installs the named packages that are missing. Needs no network and no rights if none is.
install_packages() {
  local missing as_root=()
  command -v dpkg-query >/dev/null || {
    printf '%s: this is not Debian; assuming that these are installed: %s\n' "${0##*/}" "$*" >&2
    return
  }
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die "need root or sudo to install: ${missing[*]}"
    as_root=(sudo)
  fi
  printf 'Installing %s\n' "${missing[*]}" >&2
  "${as_root[@]}" apt-get update -q >&2 || die "apt-get update failed"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}" >&2 ||
    die "apt-get could not install: ${missing[*]}"
}

# The number of build jobs: one per core, limited by memory (1.5 GB per compiler).
build_jobs() {
  local cores memory_kb jobs
  cores=$(nproc)
  memory_kb=$(awk '/MemAvailable/ {print $2}' /proc/meminfo)
  jobs=$((memory_kb / 1500000))
  ((jobs > 0)) || jobs=1
  printf '%s\n' "$((jobs < cores ? jobs : cores))"
}

# Configures and builds preset $1 under build/$1; further arguments are the targets.
build_preset() {
  local preset=$1
  shift
  cmake -S "$root" --preset "$preset"
  (cd "$root" && cmake --build --preset "$preset" --parallel "$(build_jobs)" ${1:+--target "$@"})
}

# For many ranks on few cores of one machine, also as root. Without these Open MPI refuses or is slow.
# tests/mpi/CMakeLists.txt sets the same for the tests.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
