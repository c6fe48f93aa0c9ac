#!/bin/sh
# archive.sh WHOLE.a EXPORTS.map OUTPUT.a COMPILER...: joins all objects into one, and hides what
# the libraries hide.
# One member: a program that takes malloc from it cannot take free from another place.
set -eu
whole=$1
exports=$2
output=$3
shift 3
object=${output%.a}.o
"$@" -r -nostdlib -Wl,--force-group-allocation -Wl,--whole-archive "$whole" -Wl,--no-whole-archive -o "$object"
sed -e '1,/global:/d' -e '/local:/,$d' "$exports" | tr -d ' ' | tr ';' '\n' >"$object.names"
objcopy --keep-global-symbols="$object.names" "$object"
rm -f "$output"
ar rcs "$output" "$object"
