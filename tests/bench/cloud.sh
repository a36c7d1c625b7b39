#!/bin/sh
# Starts Debian's cloud kernel with python3 in an initramfs, under the emulator and machine that hr run uses.
# Usage: cloud.sh prepare DIR HR    fetches the kernel and makes the initramfs (both kept in DIR)
#        cloud.sh start DIR HR [virtual]  runs it until python3 has printed 1; with virtual time as in hr run
set -eu
what=$1 directory=$2 hr=$3

fetch_kernel() {
    package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [ -n "$package" ] || { echo 'cloud.sh: apt knows no linux-image-cloud-amd64' >&2; exit 1; }
    apt-get -q download "$package" >download.log 2>&1
    dpkg-deb -x "$package"_*.deb kernel
}

# What hr packs for python3, without the packages of third parties: they would only slow Linux down.
make_initramfs() {
    rm -rf tree
    "$hr" pack -o run.cpio /usr/bin/python3 -c 'print(1)' >/dev/null
    mkdir tree
    (cd tree && cpio -idm --quiet <../run.cpio)
    rm -rf tree/usr/lib/python3 tree/microtome
    # Without entropy python3 would wait for some: it gets along with a fixed seed.
    cat >init.c <<'EOF'
#include <unistd.h>
int main(void)
{
    char *const arguments[] = {"/usr/bin/python3", "-c", "print(1)", NULL};
    char *const environment[] = {"PATH=/usr/bin", "HOME=/", "PYTHONHASHSEED=0", NULL};

    execve(arguments[0], arguments, environment);
    return 1;
}
EOF
    gcc -static -O2 -o tree/init init.c
    (cd tree && find . | cpio -o -H newc --quiet) >initrd.cpio
}

# The command line of hr run without its ports, and with another kernel.
start() {
    clock=${1:-}
    # shellcheck disable=SC2046
    set -- $("$hr" run --dry-run -q --mode off /bin/true | head -n 1)
    emulator=$1
    shift
    for argument; do
        shift
        case $argument in
        -name | -kernel | -initrd | -chardev | -device | -serial | -icount | -rtc) skip=1 ;;
        *)
            [ -n "${skip:-}" ] || set -- "$@" "$argument"
            skip=
            ;;
        esac
    done
    [ -z "$clock" ] || set -- "$@" -icount shift=0,sleep=off -rtc base=2024-01-01T00:00:00,clock=vm
    "$emulator" "$@" -kernel kernel/boot/vmlinuz-* -initrd initrd.cpio -append 'console=ttyS0 quiet panic=-1' \
        -serial stdio </dev/null 2>start.err | grep -a -m 1 '^1' >start.out
}

mkdir -p "$directory"
cd "$directory"
case $what in
prepare)
    [ -d kernel/boot ] || fetch_kernel
    make_initramfs
    ;;
start) start "${4:-}" ;;
esac
