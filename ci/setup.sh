#!/bin/sh
# Installs what groups of ci/packages.txt need and the machine lacks.
#
#   sh ci/setup.sh [--need] GROUP...
#
# --need: on the way to something else; nothing happens as long as only optional needs are open.
# HAK_PYTHON is the Python whose modules count, HAK_PACKAGES another list (for tests).
# Exit codes: 0 all is there, 2 no such group, 3 something is missing and could not be installed.
set -eu
export LC_ALL=C

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
list=${HAK_PACKAGES:-$root/ci/packages.txt}
python=${HAK_PYTHON:-python3}

say() { printf 'hak: %s\n' "$*" >&2; }

# The needs of the groups, a line each: NAMES PROBE optional (`-` for an empty field).
needs() {
  for group in "$@"; do
    sed -n "/^\[$group\]/,/^\[/p" "$list" | while read -r names probe optional; do
      case $names in '' | '#'* | '['*) continue ;; esac
      [ "$probe" != optional ] || { probe=''; optional=optional; }
      printf '%s %s %s\n' "$names" "${probe:--}" "${optional:--}"
    done
  done
}

alternatives() { printf '%s\n' "$1" | tr '|' ' '; }

probe() {
  what=${1#*:}
  case $1 in
    command:*) command -v "$what" ;;
    header:*) printf '#include <%s>\n' "$what" | c++ -E -x c++ - ;;
    library:*) PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -F -- "$what" ;;
    module:*) "$python" -c "import importlib.util as u, sys; sys.exit(not u.find_spec('$what'))" ;;
    *) false ;;
  esac >/dev/null 2>&1 </dev/null
}

# Those of the needs on stdin that the machine lacks.
lacking() {
  while read -r names probe optional; do
    for name in $(alternatives "$names"); do
      case " $installed " in *" $name "*) continue 2 ;; esac
    done
    probe "$probe" || printf '%s %s %s\n' "$names" "$probe" "$optional"
  done
}

look() {
  # shellcheck disable=SC2046  # one word a name is meant
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' \
    $(printf '%s\n' "$wanted" | cut -d ' ' -f 1 | tr '|' '\n') 2>/dev/null |
    sed -n 's/^installed //p' | tr '\n' ' ') || true
  open=$(printf '%s\n' "$wanted" | lacking)
  required=$(printf '%s\n' "$open" | sed '/ optional$/d')
}

# The names of the open needs that this system's apt uses: the first alternative that it knows, else
# the first name; an optional need that it does not know is left out.
packages() {
  printf '%s\n' "$open" | while read -r names _ optional; do
    for name in $(alternatives "$names"); do
      if apt-cache policy "$name" 2>/dev/null | grep -q 'Candidate: [^(]'; then
        printf '%s\n' "$name"
        continue 2
      fi
    done
    [ "$optional" = optional ] || printf '%s\n' "${names%%|*}"
  done | sort -u | tr '\n' ' ' | sed 's/ $//'
}

install="apt-get install --no-install-recommends -y"

refuse() {
  say "$1, and this user may not install. Type, then try again:"
  if command -v sudo >/dev/null 2>&1; then
    printf '  sudo apt-get update && sudo %s %s\n' "$install" "$(packages)" >&2
  else
    printf "  su -c 'apt-get update && %s %s'\n" "$install" "$(packages)" >&2
  fi
  exit 3
}

# Prints what to put before apt-get: nothing for root, sudo after a yes on the terminal.
ask() {
  [ "$(id -u)" -ne 0 ] || return 0
  { [ -t 0 ] && [ -t 2 ] && command -v sudo >/dev/null 2>&1; } || return 1
  printf 'hak: missing: %s\nhak: install with sudo apt-get? [y/N] ' "$(packages)" >&2
  read -r answer || return 1
  case $answer in y | Y | yes | Yes) printf 'sudo' ;; *) return 1 ;; esac
}

fetch() {
  # Acquire::Retries keeps a mirror's hiccup from ending the first run.
  options='-o DPkg::Lock::Timeout=120 -o Acquire::Retries=2'
  # shellcheck disable=SC2086  # lists of words
  {
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get $options -qq update
    names=$(packages)
    [ -n "$names" ] || return 0
    say "installing $names" 2>&3
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get $options -qq \
      install --no-install-recommends -y $names
  }
}

fail() {
  reason=$(grep '^E: ' "$log" | tail -n 1)
  if grep -Eq 'Failed to fetch|Temporary failure|Could not (resolve|connect)|Unable to locate' "$log"; then
    say "cannot install: the package mirror was not reached or lacks a package (${reason:-see $log})"
  else
    say "cannot install: ${reason:-see $log}"
  fi
  say "when that is mended, type ./hak setup $*, or install by hand: $(packages)"
  exit 3
}

need=no
[ "${1:-}" != --need ] || { need=yes; shift; }
for group in "$@"; do
  grep -qxF "[$group]" "$list" || {
    say "no group of packages is called $group; there are: $(sed -n 's/^\[\(.*\)\]/\1/p' "$list" | tr '\n' ' ')"
    exit 2
  }
done

wanted=$(needs "$@")
look
[ -n "$open" ] || exit 0
if [ "$need" = yes ] && [ -z "$required" ]; then
  exit 0
fi
names=$(printf '%s\n' "$required" | cut -d ' ' -f 1 | tr '\n' ' ' | sed 's/ $//')
if ! command -v apt-get >/dev/null 2>&1; then
  [ -n "$required" ] || exit 0
  say "this system has no apt-get; install what Debian calls: $names"
  exit 3
fi
if ! sudo=$(ask); then
  [ -n "$required" ] || { say "optional and not there: $(packages)"; exit 0; }
  refuse "missing: $names"
fi
log=$root/build/setup.log
mkdir -p "$root/build" 2>/dev/null || true
{ : >"$log"; } 2>/dev/null || log=$(mktemp)
say "fetching packages (log: $log)"
fetch 3>&2 >"$log" 2>&1 || fail "$@"
look
[ -z "$required" ] || fail "$@"
