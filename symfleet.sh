#!/bin/sh
# symfleet.sh: from a fresh machine to a running symfleet.
#
#   ./symfleet.sh demo            build the examples, explore one, show its crash
#   ./symfleet.sh test [ARGS]     every check and test; ARGS go to pytest instead
#   ./symfleet.sh run ARGS        symfleet ARGS, e.g. run explore -i seeds -o out -- ./target @@
#   ./symfleet.sh setup           only install and build
#   ./symfleet.sh lock            resolve requirements.lock again
#
# Everything that is not a system package stays below this folder: .venv, build and
# src/symfleet/native. What has been done is stamped with a digest of what it was made from, so a
# second call does nothing but compare. Python sources are used in place. Any number of calls may
# run at once: they share build/.lock, and one that must install or build takes it alone.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
venv=$root/.venv
build=$root/build
lock=$root/requirements.lock
llvm_versions='19 18 17 16 15 14'
python_names='python3 python3.13 python3.12 python3.11'

download_ms=0
build_ms=0

# A calling environment must not lead our interpreter astray, least of all into .venv to remake it.
unset PYTHONHOME PYTHONPATH VIRTUAL_ENV CDPATH
PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -vxF "$venv/bin" | tr '\n' ':')
PATH=${PATH%:}
export PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf 'symfleet.sh: %s\n' "$*" >&2; }

# fail STATUS WHAT HINT: exit codes are those of the command line (64 usage, 69 host, 70 internal).
fail() {
  printf 'symfleet.sh: error: %s\n  next: %s\n' "$2" "$3" >&2
  exit "$1"
}

now_ms() { date +%s%3N; }

seconds() { printf '%d.%d s' "$(($1 / 1000))" "$(($1 % 1000 / 100))"; }

# quietly LOG COMMAND...: show the end of the log only when the command fails.
quietly() {
  quiet_log=$1
  shift
  if ! "$@" >"$quiet_log" 2>&1 9>&-; then
    tail -n 40 "$quiet_log" >&2
    return 1
  fi
}

# --- what the machine must offer -------------------------------------------------------------

python_is_usable() {
  command -v "$1" >/dev/null 2>&1 &&
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (4, 0))' 2>/dev/null
}

find_python() {
  for python in $python_names; do
    if python_is_usable "$python"; then
      command -v "$python"
      return
    fi
  done
}

llvm_is_usable() {
  command -v "clang-$1" >/dev/null 2>&1 && command -v "llvm-config-$1" >/dev/null 2>&1 &&
    [ -f "$("llvm-config-$1" --includedir)/llvm/IR/PassManager.h" ]
}

# All usable versions, newest first: each gets its own compiler pass.
find_llvm() {
  for version in $llvm_versions; do
    ! llvm_is_usable "$version" || printf '%s ' "$version"
  done
}

apt_offers() {
  case $(apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p') in
  '' | '(none)') return 1 ;;
  esac
}

# newest_offered PREFIX 'VERSIONS' SUFFIX: the first version that the package lists have.
newest_offered() {
  for version in $2; do
    if apt_offers "$1$version$3"; then
      echo "$version"
      return
    fi
  done
}

python_packages() {
  python=$(find_python)
  if [ -z "$python" ]; then
    version=$(newest_offered python '3.13 3.12 3.11' '')
    [ -n "$version" ] || fail 69 'no Python of 3.11 or later, and the package lists offer none' \
      'install Python 3.11, 3.12 or 3.13 with its venv module, then call again'
    echo "python$version python$version-venv"
  elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    "$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'
  fi
}

llvm_packages() {
  [ -z "$(find_llvm)" ] || return 0
  version=$(newest_offered llvm- "$llvm_versions" -dev)
  [ -n "$version" ] || fail 69 'no clang of 14 to 19, and the package lists offer none' \
    "install one of clang-{$llvm_versions} with its llvm-N-dev, then call again"
  echo "clang-$version llvm-$version-dev"
  ! apt_offers "libclang-rt-$version-dev" || echo "libclang-rt-$version-dev"
}

# needed_packages demo|test: names of the packages that are missing, on one line.
needed_packages() {
  packages="$(python_packages) $(llvm_packages)" || return 1
  command -v g++ >/dev/null 2>&1 || packages="$packages g++"
  [ -f /usr/include/nlohmann/json.hpp ] || packages="$packages nlohmann-json3-dev"
  [ -f /usr/include/CLI/CLI.hpp ] || packages="$packages libcli11-dev"
  if [ "$1" = test ]; then
    command -v afl-whatsup >/dev/null 2>&1 || packages="$packages afl++"
    command -v gnuplot >/dev/null 2>&1 || packages="$packages gnuplot-nox"
    command -v shellcheck >/dev/null 2>&1 || packages="$packages shellcheck"
    command -v git >/dev/null 2>&1 || packages="$packages git"
    command -v ccache >/dev/null 2>&1 || packages="$packages ccache"
    # Power cuts are judged from the system calls of programs that are traced.
    command -v strace >/dev/null 2>&1 || packages="$packages strace"
    # Tests of several hosts make them from network namespaces.
    command -v ip >/dev/null 2>&1 || packages="$packages iproute2"
    # Tests start private servers of it; the one that the package may start is not touched.
    ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || packages="$packages postgresql"
  fi
  echo "$packages" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'
}

# become_root: how to call a program as root ("" when we are), or 1 when we may not.
become_root() {
  if [ "$(id -u)" -eq 0 ]; then
    echo env
  elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    echo 'sudo -n env'
  else
    return 1
  fi
}

system_is_complete() {
  [ -n "$(find_python)" ] && [ -n "$(find_llvm)" ] && [ -z "$(needed_packages "$1")" ]
}

install_packages() {
  ! system_is_complete "$1" || return 0
  command -v apt-get >/dev/null 2>&1 || fail 69 \
    'this machine lacks something, and has no apt-get to install it with' \
    'install Python 3.11+ with venv, clang and LLVM headers of 14 to 19, g++, and the headers of nlohmann-json and CLI11'
  if as_root=$(become_root); then
    start=$(now_ms)
    apt="$as_root DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3"
    # shellcheck disable=SC2086 # $apt is a command with its options
    quietly "$build/apt-update.log" $apt update ||
      say 'apt-get update failed; going on with the package lists that are here'
    packages=$(needed_packages "$1")
    say "installing $packages"
    # shellcheck disable=SC2086
    quietly "$build/apt-install.log" $apt install -y --no-install-recommends $packages ||
      fail 69 "apt-get could not install $packages" "read $build/apt-install.log"
    download_ms=$((download_ms + $(now_ms) - start))
  else
    packages=$(needed_packages "$1")
    fail 69 "these packages are missing, and this user may not install them: $packages" \
      "sudo apt-get update && sudo apt-get install -y --no-install-recommends $packages"
  fi
}

# --- what we make --------------------------------------------------------------------------

digest() { sha256sum | cut -d' ' -f1; }

environment_digest() {
  {
    echo "$root"
    cat "$lock" "$root/pyproject.toml"
  } | digest
}

native_digest() {
  {
    echo "$root" "$(find_llvm)"
    cd "$root"
    find native CMakeLists.txt requirements.lock -type f -print0 | LC_ALL=C sort -z |
      xargs -0 sha256sum
  } | digest
}

is_stamped() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }

environment_is_current() { is_stamped "$venv/.symfleet-stamp" "$(environment_digest)"; }

native_is_current() { is_stamped "$build/native-stamp" "$(native_digest)"; }

# uv knows nothing of pip's configuration; a machine that has only that must work all the same.
follow_pip_configuration() {
  pip_setting() { "$venv/bin/python" -m pip config get "global.$1" 2>/dev/null || :; }
  index=${UV_DEFAULT_INDEX:-${PIP_INDEX_URL:-$(pip_setting index-url)}}
  [ -z "$index" ] || export UV_DEFAULT_INDEX="$index"
  certificates=${SSL_CERT_FILE:-${PIP_CERT:-$(pip_setting cert)}}
  [ -z "$certificates" ] || export SSL_CERT_FILE="$certificates"
}

make_environment() {
  start=$(now_ms)
  made_of=$(environment_digest)
  say 'making .venv from requirements.lock'
  # One that works is kept, whichever Python the caller has first on PATH; a moved one does not work.
  if [ "$(cat "$venv/.symfleet-root" 2>/dev/null)" != "$root" ] || ! python_is_usable "$venv/bin/python"; then
    rm -rf "$venv"
    "$(find_python)" -m venv "$venv"
    echo "$root" >"$venv/.symfleet-root"
  fi
  rm -f "$venv/.symfleet-stamp"
  awk '/^uv==/ { found = 1 } found { print } found && !/\\$/ { exit }' "$lock" |
    sed 's/ ; sys_platform[^\\]*//' >"$build/uv.lock"
  quietly "$build/pip.log" "$venv/bin/python" -m pip install --require-hashes -r "$build/uv.lock" ||
    fail 69 'pip could not install uv' "read $build/pip.log"
  follow_pip_configuration
  quietly "$build/uv.log" "$venv/bin/uv" pip sync --python "$venv/bin/python" --require-hashes "$lock" ||
    fail 69 'uv could not install the locked packages' "read $build/uv.log"
  download_ms=$((download_ms + $(now_ms) - start))

  start=$(now_ms)
  # In place and without CMake: a plain path entry and the console scripts.
  quietly "$build/editable.log" "$venv/bin/uv" pip install --python "$venv/bin/python" \
    --no-deps --no-build-isolation --reinstall-package symfleet \
    -C wheel.cmake=false -C editable.mode=inplace -e "$root" ||
    fail 70 'the package could not be installed' "read $build/editable.log"
  echo "$made_of" >"$venv/.symfleet-stamp"
  build_ms=$((build_ms + $(now_ms) - start))
}

# The native parts are built as the wheel is, and taken out of it: what runs here is what ships.
build_native() {
  start=$(now_ms)
  made_of=$(native_digest) # before it is read: what is edited while it is built is not built
  say "building the native parts for LLVM $(find_llvm)"
  rm -rf "$build/native-stamp" "$build/dist" "$build/unpacked"
  quietly "$build/wheel.log" env PATH="$venv/bin:$PATH" "$venv/bin/uv" build --wheel \
    --python "$venv/bin/python" --no-build-isolation --out-dir "$build/dist" \
    -C build-dir="$build/native" -C cmake.define.SYMFLEET_IN_PLACE=ON "$root" ||
    fail 70 'the native parts could not be built' "read $build/wheel.log"
  quietly "$build/unpack.log" "$venv/bin/uv" pip install --python "$venv/bin/python" --no-deps \
    --target "$build/unpacked" "$build"/dist/*.whl ||
    fail 70 'the wheel could not be unpacked' "read $build/unpack.log"
  rm -rf "$root/src/symfleet/native"
  [ ! -d "$build/unpacked/symfleet/native" ] ||
    mv "$build/unpacked/symfleet/native" "$root/src/symfleet/native"
  rm -rf "$build/unpacked"
  echo "$made_of" >"$build/native-stamp"
  build_ms=$((build_ms + $(now_ms) - start))
}

is_ready() { system_is_complete "$1" && environment_is_current && native_is_current; }

# setup demo|test: returns with the shared lock held on descriptor 9.
setup() {
  mkdir -p "$build" 2>/dev/null || fail 69 "cannot write to $root" 'use a copy that you own'
  touch "$build/.lock" 2>/dev/null ||
    fail 69 "cannot write to $build" 'it belongs to another user: use a copy that you own'
  exec 9>>"$build/.lock"
  flock -s 9
  if ! is_ready "$1"; then
    flock -n -x 9 || {
      say "waiting for another symfleet.sh (it holds $build/.lock)"
      flock -x 9
    }
    install_packages "$1"
    environment_is_current || make_environment
    native_is_current || build_native
    flock -s 9
  fi
  PATH=$venv/bin:$PATH
  export PATH
}

# --- the verbs -----------------------------------------------------------------------------

print_times() {
  printf '\ndownload and install %s, build %s, run %s\n' \
    "$(seconds "$download_ms")" "$(seconds "$build_ms")" "$(seconds "$1")"
}

demo() {
  setup demo
  start=$(now_ms)
  CC='symfleet cc' CXX='symfleet c++' "$root/examples/build.sh" "$build/examples" 9>&-
  build_ms=$((build_ms + $(now_ms) - start))

  start=$(now_ms)
  out=$build/demo/$(date +%Y%m%d-%H%M%S)-$$
  mkdir -p "$build/demo"
  say 'exploring examples/magic: six nested 32-bit comparisons, then a crash'
  symfleet explore -i "$root/examples/magic/seeds" -o "$out" -j "$(nproc)" --max-time 120 \
    --exit-on-crash "$@" -- "$build/examples/magic" @@ 9>&- ||
    fail $? 'the campaign did not end well' "symfleet status $out"
  symfleet crashes list "$out" 9>&-
  found=$(find "$out/crashes" -mindepth 1 -maxdepth 1 -type d -name '[0-9a-f]*' | wc -l)
  [ "$found" -gt 0 ] || fail 70 'the planted crash was not found' "symfleet status $out"
  run_ms=$(($(now_ms) - start))
  cat <<END

everything is here:
  campaign   $out
  crashes    $out/crashes
  corpus     $out/corpus
  targets    $build/examples
  symfleet   $venv/bin/symfleet   (or: $root/symfleet.sh run ...)
END
  print_times "$run_ms"
}

failures=''

check() {
  name=$1
  shift
  printf '%-14s ' "$name"
  start_check=$(now_ms)
  if quietly "$build/check-$name.log" "$@"; then
    printf 'ok       %s\n' "$(seconds $(($(now_ms) - start_check)))"
  else
    printf 'FAILED   (%s)\n' "$build/check-$name.log"
    failures="$failures $name"
  fi
}

clang_format_is_clean() {
  find native -name '*.[ch]' -o -name '*.cpp' -o -name '*.hpp' | LC_ALL=C sort |
    xargs clang-format --dry-run --Werror
}

# group NAME 'FOLDERS' PYTEST-ARGS
group() {
  name=$1
  folders=''
  for folder in $2; do
    [ ! -d "$folder" ] || folders="$folders $folder"
  done
  shift 2
  [ -n "$folders" ] || return 0
  printf '\n--- %s\n' "$name"
  status=0
  # shellcheck disable=SC2086 # words
  python -m pytest --durations=10 --durations-min=1 "$@" $folders 9>&- || status=$?
  # 5: no test there.
  [ "$status" -eq 0 ] || [ "$status" -eq 5 ] || failures="$failures $name"
}

run_tests() {
  setup test
  start=$(now_ms)
  cd "$root"
  if [ $# -gt 0 ]; then
    status=0
    python -m pytest "$@" 9>&- || status=$?
    print_times $(($(now_ms) - start))
    exit "$status"
  fi
  check ruff ruff check .
  check ruff-format ruff format --check .
  check mypy mypy
  check lint-imports lint-imports
  check clang-format clang_format_is_clean
  check docs sphinx-build -q -W --keep-going -d "$build/doctrees" docs "$build/docs"
  check shellcheck shellcheck symfleet.sh examples/build.sh .ci/run
  # Tests of MPI jobs wait more than they compute: one more than there are cores, each taken when
  # there is room. Whatever measures time has the machine to itself.
  group parallel tests -m 'not alone and not jobs' -n "$(nproc)" --dist worksteal
  group jobs tests -m jobs -n "$(($(nproc) + 1))" --dist load --maxschedchunk 1
  group alone tests -m alone
  print_times $(($(now_ms) - start))
  [ -z "$failures" ] || fail 1 "failed:$failures" 'read above, or the logs named there'
}

relock() {
  setup demo
  cd "$root"
  follow_pip_configuration
  uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --custom-compile-command './symfleet.sh lock' --upgrade -q \
    -o requirements.lock
}

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0" | sed '/^set /,$d'; }

case ${1-} in
demo) shift && demo "$@" ;;
test) shift && run_tests "$@" ;;
run) shift && setup demo && symfleet "$@" 9>&- ;;
setup) setup demo && print_times 0 ;;
lock) relock ;;
-h | --help | help) usage ;;
*)
  usage >&2
  exit 64
  ;;
esac
