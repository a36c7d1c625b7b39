#!/bin/sh
# docs/first-day.md: what people do on their first day works as it is printed there, at the first try.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/docs/transcript.sh"

for tool in gcc python3 mcopy qemu-system-x86_64; do
    command -v $tool >/dev/null || skip_all "$tool is not installed"
done
[ -f /usr/share/ovmf/OVMF.fd ] || skip_all 'no OVMF firmware (package ovmf)'

ls /usr/lib/debug/.build-id >/dev/null 2>&1 || skip_all 'libc6-dbg is not installed: names of the C library'
[ "$(getconf GNU_LIBC_VERSION)" = 'glibc 2.36' ] || skip_all 'docs/first-day.md shows functions of the C library of Debian 12'

# as make install lays it out
export PREFIX="$work/installed"
MAKEFLAGS='' make -s -C "$ROOT" BUILD="${BUILD#"$ROOT/"}" PREFIX="$PREFIX" install >install.log 2>&1
is 'make install' "$?" 0
PATH=$PREFIX/bin:$PATH
BUILD=$PREFIX/bin
mkdir day
cd day || exit 1
# the firmware of tests/firmware, and little memory, all of which it fills when it is freed
sed "s|/usr/share/ovmf/OVMF.fd|$TOOLS/OVMF.fd|; s| -m 1G | -m 512M |" "$ROOT/docs/first-day.md" >"$work/first-day.md"
transcript "$work/first-day.md"
done_testing
