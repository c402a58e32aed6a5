#!/usr/bin/env bash
# gpuadvise on a cluster that needs no Slurm: ./quickstart.sh [start|stop|status]
#
# start (the default) installs missing packages, builds, starts gpuadvised on the simulated cluster
# and ranks examples/gr00t.yaml. Run again it reuses what is there. Everything it writes lies in
# build/ and .quickstart/ of this folder.
set -euo pipefail

top=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
bin=$top/build/release/bin
programs=(gpuadvised gpuadvise-collect gpuadvise) # all that the ranking needs
home=$top/.quickstart
max_socket_bytes=107 # of a Unix socket's path, set by the kernel
ready_seconds=30
first_port=6828

fail() {
  printf 'quickstart: %s\n' "$*" >&2
  exit 1
}

# The socket lies in .quickstart/, or where its path is too long in a private folder elsewhere.
choose_socket() {
  socket=$home/gpuadvised.sock
  [ "$(printf %s "$socket" | wc -c)" -gt "$max_socket_bytes" ] || return 0
  local hash folder
  hash=$(printf %s "$top" | cksum | cut -d' ' -f1)
  folder=${XDG_RUNTIME_DIR:-/tmp}/gpuadvise-$(id -u)-$hash
  mkdir -m 700 "$folder" 2>/dev/null || true
  if [ -L "$folder" ] || [ ! -O "$folder" ] || [ "$(stat -c %a "$folder")" != 700 ]; then
    fail "$folder is not a private folder of $(id -un); remove it, or use a clone with a shorter path"
  fi
  socket=$folder/gpuadvised.sock
}

# The pid of our daemon if it runs, else nothing. A pid that now belongs to another program is not ours.
running_pid() {
  local pid
  pid=$(cat "$home/pid" 2>/dev/null) || return 0
  case $(readlink "/proc/$pid/exe" 2>/dev/null || true) in
    "$bin/gpuadvised" | "$bin/gpuadvised (deleted)") echo "$pid" ;;
  esac
}

# What a running daemon was started from; differs after a build that changed a program.
build_mark() { stat -c '%n %Y %s' "$bin/gpuadvised" "$bin/gpuadvise-collect" "$home/gpuadvised.yaml"; }

# Jobs that somebody has submitted to the simulated cluster end with it.
cancel_jobs() {
  [ -x "$home/bin/scancel" ] && [ -n "$(running_pid)" ] || return 0
  "$home/bin/scancel" --me 2>/dev/null || true
}

stop_daemon() {
  local pid deadline=$((SECONDS + 12))
  pid=$(running_pid)
  if [ -n "$pid" ]; then
    kill "$pid" 2>/dev/null || true
    while [ -n "$(running_pid)" ]; do
      if [ "$SECONDS" -ge "$deadline" ]; then kill -9 "$pid" 2>/dev/null || true; fi
      sleep 0.05
    done
  fi
  rm -f "$home/pid" "$home/mark" "$socket"
}

build() {
  local cache=$top/build/release/CMakeCache.txt launcher=()
  if [ -e "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$top" "$cache"; then
    rm -rf "$top/build/release" # the clone has moved
  fi
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  if [ ! -e "$top/build/release/build.ninja" ]; then
    echo "Building gpuadvise (a few minutes the first time)"
    (cd "$top" && cmake --preset release "${launcher[@]}" >"$home/build.log" 2>&1) || {
      tail -n 20 "$home/build.log" >&2
      fail "the build could not be configured; all of it is in $home/build.log"
    }
  fi
  (cd "$top" && NINJA_STATUS='[%p of the build, %e s] ' cmake --build --preset release --target "${programs[@]}") ||
    fail "the build failed; the lines above say why"
}

write_settings() {
  cat >"$home/gpuadvised.yaml.new" <<YAML
# Written by quickstart.sh. Every key and its default: config/gpuadvised.yaml
socket: "$(json_escape "$socket")"
socket_mode: "0600"
state_dir: "$(json_escape "$home/state")"
listen: "127.0.0.1:$(choose_port)"
source: sim
simulation: {jobs_dir: "$(json_escape "$home/jobs")"}
poll_interval: 2s
YAML
  if cmp -s "$home/gpuadvised.yaml.new" "$home/gpuadvised.yaml"; then
    rm "$home/gpuadvised.yaml.new"
  else
    mv "$home/gpuadvised.yaml.new" "$home/gpuadvised.yaml"
  fi
}

# gpuadvise, and Slurm's commands for the simulated cluster, in a folder for PATH.
write_commands() {
  mkdir -p "$home/bin" "$home/jobs"
  ln -sf "$bin/gpuadvise" "$home/bin/gpuadvise"
  local name
  for name in sbatch srun salloc squeue scancel sinfo scontrol sacct; do
    cat >"$home/bin/$name" <<SH
#!/bin/sh
# Written by quickstart.sh: the $name of its simulated cluster. It is not Slurm's.
GPUADVISE_SOCKET=$(printf %q "$socket") GPUADVISE_SIMULATED_JOBS=$(printf %q "$home/jobs") \\
  exec python3 $(printf %q "$top/packaging/quickstart/simulated_slurm.py") $name "\$@"
SH
    chmod 700 "$home/bin/$name"
  done
}

# The port of the run before, else the first free one.
choose_port() {
  local port
  port=$(sed -n 's/^listen: "127.0.0.1:\([0-9]*\)"$/\1/p' "$home/gpuadvised.yaml" 2>/dev/null)
  if [ -n "$port" ] && { [ -n "$(running_pid)" ] || ! is_taken "$port"; }; then
    echo "$port"
    return
  fi
  for ((port = first_port; port < first_port + 100; port++)); do
    if ! is_taken "$port"; then
      echo "$port"
      return
    fi
  done
  echo "$first_port" # gpuadvised then says that it is taken
}

is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

page_address() { sed -n 's/^listen: "\(.*\)"$/http:\/\/\1\//p' "$home/gpuadvised.yaml"; }

json_escape() { printf %s "$1" | sed 's/[\\"]/\\&/g'; }

start_daemon() {
  mkdir -p "$home/state" "$home/jobs"
  echo "Starting gpuadvised on the simulated cluster"
  setsid "$bin/gpuadvised" --config "$home/gpuadvised.yaml" >"$home/gpuadvised.log" 2>&1 </dev/null 9>&- &
  echo $! >"$home/pid"
  build_mark >"$home/mark"
  await_daemon
}

# Asks until the daemon answers with a snapshot; says why when it does not.
await_daemon() {
  local deadline=$((SECONDS + ready_seconds))
  until GPUADVISE_SOCKET=$socket "$bin/gpuadvise" gpus --json >/dev/null 2>&1; do
    # Its pid may still be that of setsid, which is about to become it.
    if ! kill -0 "$(cat "$home/pid")" 2>/dev/null || [ "$SECONDS" -ge "$deadline" ]; then
      tail -n 10 "$home/gpuadvised.log" >&2
      fail "gpuadvised did not get ready; all of its log is in $home/gpuadvised.log"
    fi
    sleep 0.1
  done
}

show_more() {
  local ask
  ask=$(printf %q "$bin/gpuadvise")
  cat <<TEXT

The dashboard of this cluster: $(page_address)

Ask more (the cluster is simulated; other people's jobs come and go by themselves):
  export GPUADVISE_SOCKET=$(printf %q "$socket")
  $ask gpus
  $ask when --gres gpu:l40s:6 -t 600
  $ask advise $(printf %q "$top/examples/gr00t.yaml") --objective start
  $ask submit --dry-run $(printf %q "$top/examples/gr00t.yaml")
Submit a small training to it. Its GPUs are simulated, the script runs on this machine (sbatch, squeue
and scancel of .quickstart/bin are not Slurm's):
  export PATH=$(printf %q "$home/bin"):\$PATH GPUADVISE_SOCKET=$(printf %q "$socket")
  cd $(printf %q "$top")
  gpuadvise submit examples/tiny.yaml --objective start --yes
  gpuadvise watch \$(squeue --me -h | awk 'END {print \$1}') --interval 5
  gpuadvise jobs
Stop it:
  $(printf %q "$top/quickstart.sh") stop
TEXT
}

start() {
  "$top/packaging/install-packages.sh" build
  "$top/packaging/install-packages.sh" page ||
    echo "quickstart: nodejs and npm could not be installed; gpuadvised is built without its dashboard" >&2
  build
  write_settings
  write_commands
  if [ -n "$(running_pid)" ] && build_mark | cmp -s - "$home/mark"; then
    await_daemon
  else
    stop_daemon
    start_daemon
  fi
  echo
  GPUADVISE_SOCKET=$socket "$bin/gpuadvise" advise "$top/examples/gr00t.yaml"
  show_more
}

status() {
  local pid
  pid=$(running_pid)
  [ -n "$pid" ] || { echo "gpuadvised is not running; start it with $(printf %q "$top/quickstart.sh")"; exit 3; }
  echo "gpuadvised is running as process $pid on $socket; its dashboard is at $(page_address)"
}

case ${1:-start} in
  start | stop | status) [ $# -le 1 ] || fail "too many words; usage: ./quickstart.sh [start|stop|status]" ;;
  -h | --help)
    sed -n '2,6s/^#\( \|$\)//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *) echo "quickstart: unknown word '$1'; usage: ./quickstart.sh [start|stop|status]" >&2 && exit 2 ;;
esac
(umask 077 && mkdir -p "$home")
choose_socket
exec 9>"$home/lock"
flock 9 # two at once would start two daemons
case ${1:-start} in
  start) start ;;
  status) status ;;
  stop)
    cancel_jobs
    stop_daemon
    echo "gpuadvised is stopped. ./quickstart.sh starts it again; build/ and .quickstart/ may be deleted."
    ;;
esac
