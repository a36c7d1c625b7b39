#!/bin/sh
# Installs the missing Debian packages that building, running or testing Microtome needs.
# Usage: tools/setup.sh GROUP...   with GROUP one of: build run demo page test bench
set -eu

packages_of() {
    case $1 in
    build) echo gcc libc6-dev make binutils gnu-efi libelf-dev libdw-dev libiberty-dev libjansson-dev libpfm4-dev libcapstone-dev \
        libvirt-dev libdeflate-dev libsqlite3-dev libmicrohttpd-dev zlib1g-dev libbz2-dev xz-utils ;;
    run) echo qemu-system-x86 qemu-system-data seabios fdisk dosfstools mtools ;;
    demo) echo busybox-static ;;
    # npm may be installed without Debian's package
    page) command -v npm >/dev/null || echo npm ;;
    test)
        # With an init system the machine would let people in at once: not without being asked.
        [ -d /run/systemd/system ] || echo openssh-server
        echo libcmocka-dev clang lld libclang-rt-dev musl-tools busybox-static valgrind shellcheck \
        clang-format clang-tidy clang-tools perl jq time python3 python3-yaml git binutils cpio bzip2 gawk procps util-linux \
        libvirt-daemon-system libvirt-clients libxml2-utils chromium ovmf mtools dosfstools \
        sqlite3 lua5.4 xz-utils dwz zstd openssl sysbench g++ golang-go protobuf-compiler ripgrep linux-perf patch libc6-dbg \
        tmux net-tools iproute2 curl slurmctld slurmd slurm-client munge openssh-client
        ;;
    bench) echo libcmocka-dev musl-tools busybox-static valgrind perl jq time socat hyperfine cpio python3 linux-perf chromium iperf3 kmod \
        bzip2 sqlite3 xz-utils gawk g++ ;;
    *)
        echo "setup: unknown group '$1'; known: build run demo page test bench" >&2
        return 2
        ;;
    esac
}

wanted=
for group in "$@"; do
    wanted="$wanted $(packages_of "$group")"
done

# One query for all packages; dpkg-query fails if it does not know a name, which is a valid answer.
# shellcheck disable=SC2016,SC2086
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null || true)
missing=
for package in $wanted; do
    case "
$installed
" in
    *"
installed $package
"*) ;;
    *) case " $missing " in *" $package "*) ;; *) missing="$missing $package" ;; esac ;;
    esac
done
[ -n "$missing" ] || exit 0

echo "setup: installing$missing" >&2
as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: not root and no sudo; as root run: apt-get install --no-install-recommends$missing" >&2
        exit 1
    fi
    as_root="sudo"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086
if ! { $as_root apt-get -q update &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $missing; } \
    >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    echo "setup: apt-get could not install$missing" >&2
    exit 1
fi
