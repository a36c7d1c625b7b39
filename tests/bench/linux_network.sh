#!/bin/sh
# What Debian's iperf3 server receives from a Linux guest, through an emulated network card of QEMU and its
# user network: what the bench compares streaming with.
# Usage: linux_network.sh prepare DIR         fetches Debian's kernel and makes the initramfs (kept in DIR)
#        linux_network.sh measure DIR MODEL   MODEL: virtio-net-pci, e1000 or e1000e; prints bytes per second
set -eu
what=$1 directory=$2
modules='virtio_pci virtio_net e1000 e1000e'
port=${PORT:-4818}
seconds=${SECONDS_MEASURED:-5}

fetch_kernel() {
    package=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [ -n "$package" ] || { echo 'linux_network.sh: apt knows no linux-image-amd64' >&2; exit 1; }
    apt-get -q download "$package" >download.log 2>&1
    dpkg-deb -x "$package"_*.deb kernel
    rm -f "$package"_*.deb
}

# A module's files, those that it needs first.
files_of() {
    sed -n "s|^\([^:]*/$1\.ko\): *|\1 |p" modules.dep | tr ' ' '\n' | sed '/^$/d' | tac
}

make_initramfs() {
    release=$(basename kernel/lib/modules/*)
    rm -rf tree
    mkdir -p tree/bin tree/proc tree/sys tree/dev tree/lib tree/tmp
    cp "$(command -v busybox)" tree/bin/busybox
    for file in /usr/bin/iperf3 $(ldd /usr/bin/iperf3 | grep -o '/[^ ]*'); do
        mkdir -p "tree$(dirname "$file")"
        cp -L "$file" "tree$file"
    done
    /sbin/depmod -b kernel "$release"
    cp "kernel/lib/modules/$release/modules.dep" modules.dep
    for module in $modules; do
        for file in $(files_of "$module"); do
            cp "kernel/lib/modules/$release/$file" tree/lib/
            echo "/lib/$(basename "$file")"
        done
    done | awk '!seen[$0]++' >tree/modules
    cat >tree/init <<'EOF'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
while read -r module; do $b insmod "$module"; done </modules
for try in 1 2 3 4 5 6 7 8 9 10; do
    [ -e /sys/class/net/eth0 ] && break
    $b sleep 1
done
$b ip link set lo up
$b ip addr add 10.0.2.15/24 dev eth0
$b ip link set eth0 up
for try in 1 2 3 4 5 6 7 8 9 10; do
    [ "$($b cat /sys/class/net/eth0/carrier)" = 1 ] && break
    $b sleep 1
done
for word in $($b cat /proc/cmdline); do case $word in port=* | seconds=*) export "$word" ;; esac; done
/usr/bin/iperf3 -c 10.0.2.2 -p "$port" -t "$seconds"
$b poweroff -f
EOF
    chmod +x tree/init
    (cd tree && find . | cpio -o -H newc --quiet) >initrd.cpio
}

measure() {
    iperf3 -s --one-off -J -p "$port" -B 127.0.0.1 >server.json 2>server.err &
    server=$!
    trap 'kill $server 2>/dev/null' EXIT
    timeout 300 "${EMULATOR:-qemu-system-x86_64}" -machine q35 -accel tcg -cpu max -smp 1 -m 512 -nodefaults -display none \
        -no-reboot -serial file:linux.log -netdev user,id=net -device "$1,netdev=net" \
        -kernel kernel/boot/vmlinuz-* -initrd initrd.cpio \
        -append "console=ttyS0 quiet panic=-1 port=$port seconds=$seconds" </dev/null >qemu.log 2>&1
    wait "$server" || { echo "linux_network.sh: iperf3 failed; see $directory/server.json, linux.log" >&2; exit 1; }
    trap - EXIT
    jq -r '.end.sum_received.bits_per_second / 8 | floor' server.json
}

mkdir -p "$directory"
cd "$directory"
case $what in
prepare)
    [ -d kernel/boot ] || fetch_kernel
    [ -s initrd.cpio ] || make_initramfs
    ;;
measure) measure "$3" ;;
*)
    echo "linux_network.sh: prepare or measure" >&2
    exit 2
    ;;
esac
