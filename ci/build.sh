#!/bin/sh
# Builds into build/PROFILE (with clang: build/PROFILE-clang); silent when there is nothing to do.
#
#   sh ci/build.sh all|products|libraries PROFILE gcc|clang
#
# products: what people use, everything but the tests. libraries: the allocator only.
# fast-pgo is trained by ci/train.py with the standard build's workloads, again after every change.
# Exit codes: 0 built, 4 it does not build, 5 the build folder cannot be written.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
what=$1 profile=$2 compiler=$3
name=$profile
[ "$compiler" = gcc ] || name=$profile-$compiler
dir=$root/build/$name
log=$root/build/$name.log

say() { printf 'hak: %s\n' "$*" >&2; }

# False for a folder that was copied or moved with its clone: it would build the old place's sources.
of_this_place() {
  [ -f "$dir/build.ninja" ] || return 1
  [ ! -f "$dir/.root" ] || [ "$(cat "$dir/.root")" = "$root" ]
}

# The shell's own flags stay out, so that a build is the same wherever it is made.
configure() {
  rm -rf "$dir"
  case $profile in
    spacing-8) set -- -Dprofile=standard -Dclass_spacing=8 -Dtests=false -Dresearch=false ;;
    *) set -- "-Dprofile=$profile" ;;
  esac
  [ "$profile" = standard ] || set -- "$@" -Dharness=false
  if [ "$profile" = fast-pgo ] || ! pkg-config --exists gtest gmock; then
    set -- "$@" -Dtests=false
  fi
  if [ "$compiler" = clang ]; then export CC=clang CXX=clang++; fi
  unset CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
  meson setup "$dir" "$root" "$@" && printf '%s\n' "$root" >"$dir/.root"
}

targets() {
  case $what:$profile in
    *:fast-pgo) printf 'core/libhakmem.so\n' ;;
    all:*) printf 'all\n' ;;
    libraries:*) printf 'core/libhakmem.so\ncore/libhakmem-lab.so\n' ;;
    products:*)
      ninja -C "$dir" -t targets all | sed -n '/\/tests\//d; s/: c\(pp\)\{0,1\}_LINKER$//p'
      ;;
  esac
}

# shellcheck disable=SC2046  # one word a target is meant
run_ninja() { ninja -C "$dir" "$@" $(targets); }

# False for a fast-pgo folder whose training broke off, or that was trained on other workloads.
trained() {
  [ "$profile" != fast-pgo ] ||
    [ -n "$(find "$dir/core/training.json" -newer "$root/ci/training.json" 2>/dev/null)" ]
}

make() {
  of_this_place || configure || return 1
  if [ "$profile" = fast-pgo ]; then
    "${HAK_PYTHON:-python3}" "$root/ci/train.py" "$dir" "$root/build/standard/harness/hakbench/hakbench"
  else
    run_ninja
  fi
}

if [ "$profile" = fast-pgo ]; then
  sh "$0" products standard gcc
fi
if of_this_place && trained && run_ninja -n 2>/dev/null | grep -q 'no work to do'; then
  exit 0
fi
if ! { mkdir -p "$root/build" && : >"$log" && : >>"$root/build/.lock"; } 2>/dev/null; then
  say "cannot write to $root/build (read-only, full, or another user's?)"
  exit 5
fi
say "building build/$name (log: build/$name.log)"
# The lock keeps two launchers from building into one folder at once.
if ( { flock 9 || true; } 2>/dev/null && make 9>&-) 9>"$root/build/.lock" >"$log" 2>&1 </dev/null; then
  exit 0
fi
tail -n 25 "$log" >&2
if grep -q 'No space left on device' "$log"; then
  say "the disk is full: $root/build"
  exit 5
fi
say "build/$name does not build; the whole log: $log"
exit 4
