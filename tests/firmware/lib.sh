#!/bin/sh
# Functions for tests that boot a stick on real firmware (OVMF) in QEMU.  Sourced after ../lib.sh.
# Makes sticks without partitions: firmware boots those too.  `hr usb` makes real ones.

OVMF=${OVMF:-$TOOLS/OVMF.fd} # without what no test needs (lean.py)
LOADER=$BUILD/BOOTX64.EFI
# shellcheck disable=SC2034
FAKE_KERNEL=$TOOLS/fake-kernel.elf
QEMU=${QEMU:-qemu-system-x86_64}
BOOT_LIMIT=${HR_TEST_BOOT_LIMIT:-300} # seconds for one boot
export MTOOLS_SKIP_CHECK=1

for tool in "$QEMU" mcopy mmd mdir mkfs.fat fsck.fat; do
    command -v "$tool" >/dev/null || skip_all "$tool is not installed"
done
[ -f "$OVMF" ] || skip_all "no OVMF firmware at $OVMF (package ovmf, then make test-tools)"

# stick_new IMAGE MIB: an empty stick with the loader on it.
stick_new() {
    rm -f "$1"
    mkfs.fat -C -F 32 -s 1 -n MICROTOME "$1" $(($2 * 1024)) >mkfs.log 2>&1 || return 1
    mmd -i "$1" ::/EFI ::/EFI/BOOT ::/microtome ::/microtome/runs || return 1
    mcopy -i "$1" "$LOADER" ::/EFI/BOOT/BOOTX64.EFI
}

# stick_put IMAGE FILE PATH: copies FILE to PATH (with slashes) on the stick.
stick_put() {
    mcopy -o -i "$1" "$2" "::$3"
}

# conf_file KEY FILE PATH: the lines of microtome.conf that name FILE, which is PATH on the stick.
conf_file() {
    "$TOOLS/crc32c" "$2" | {
        read -r bytes crc
        prefix=
        [ "$1" = archive ] || prefix=$1-
        printf '%s = %s\n%sbytes = %s\n%scrc32c = %s\n' \
            "$1" "$(echo "$3" | tr / '\\')" "$prefix" "$bytes" "$prefix" "$crc"
    }
}

# stick_make IMAGE MIB KERNEL [KEY=VALUE...] -- ARCHIVE[,KEY=VALUE...]...: a whole stick; the keys
# before -- go to the head of microtome.conf, those after an archive to its run.
stick_make() {
    image=$1 kernel=$3
    stick_new "$image" "$2" || return 1
    shift 3
    stick_put "$image" "$kernel" /microtome/guest.elf
    {
        echo 'version = 1'
        conf_file kernel "$kernel" /microtome/guest.elf
        while [ "$1" != -- ]; do
            echo "$1"
            shift
        done
        shift
        for run in "$@"; do
            archive=${run%%,*}
            stick_put "$image" "$archive" "/microtome/runs/$(basename "$archive")"
            echo '[run]'
            conf_file archive "$archive" "/microtome/runs/$(basename "$archive")"
            case $run in *,*) echo "${run#*,}" | tr , '\n' ;; esac
        done
    } >microtome.conf
    stick_put "$image" microtome.conf /microtome.conf
}

# usb_emulator IMAGE [QEMU OPTION...]: in place of the shell that calls it.  Little memory, because OVMF fills what is freed,
# byte by byte, after every run; no screen, which the loader draws on and nobody sees (01-loader.t has one).
usb_emulator() {
    image=$1
    shift
    # shellcheck disable=SC2154 # tests/lib.sh sets it
    export GLIBC_TUNABLES="$emulators_tunables"
    exec timeout -k 10 "$BOOT_LIMIT" "$QEMU" -machine q35 -accel tcg -cpu max -m 256M -bios "$OVMF" \
        -vga none -display none -monitor none -nic none -no-reboot -serial file:serial.raw \
        -device qemu-xhci -drive "if=none,id=stick,format=raw,file=$image${stick_options:-}" \
        -device usb-storage,drive=stick,bootindex=0,removable=on "$@" >qemu.log 2>&1 </dev/null
}

# serial_split: what came over the serial port, without carriage returns, and the loader's lines of it.
serial_split() {
    tr -d '\r' <serial.raw >serial
    grep -a '^microtome: ' serial >said
}

# usb_boot IMAGE [QEMU OPTION...]: boots it as a USB stick until the machine switches itself off.  The
# serial port goes to the file serial, without carriage returns; exit status of QEMU in $status;
# $stick_options: more options of the drive, with a comma before them.
# shellcheck disable=SC2034
usb_boot() {
    status=0
    (usb_emulator "$@") || status=$?
    serial_split
    [ "$status" -eq 0 ] || sed 's/^/# qemu: /' qemu.log
}

# usb_boot_until IMAGE REGEX [QEMU OPTION...]: the same, but the machine is switched off when the
# serial port says REGEX; status 0 if it did.  Or when the process $until_gone is gone, if that is set.
usb_boot_until() {
    image=$1 regex=$2
    shift 2
    rm -f serial.raw
    : >serial.raw
    usb_emulator "$image" "$@" &
    emulator=$!
    while kill -0 "$emulator" 2>/dev/null; do
        grep -qaE -e "$regex" serial.raw && break
        [ -z "${until_gone:-}" ] || kill -0 "$until_gone" 2>/dev/null || break
        sleep 0.2
    done
    status=1
    grep -qaE -e "$regex" serial.raw && status=0
    kill "$emulator" 2>/dev/null
    wait "$emulator" 2>/dev/null
    serial_split
}

# results_get IMAGE: takes \results off the stick, into the directory results.
results_get() {
    rm -rf results
    mkdir results
    mcopy -s -n -i "$1" ::/results/* results/ 2>mcopy.log
}

# result_of NNN KEY: the value of a key of result.conf.
result_of() {
    sed -n "s/^$2 = //p" "results/$1/result.conf"
}

# result_verify NNN: every file that result.conf lists has the length and CRC32C that it says.
result_verify() {
    sed -n 's/^file = //p' "results/$1/result.conf" >listed
    [ -s listed ] || return 1
    while read -r entry bytes crc; do
        [ "$("$TOOLS/crc32c" "results/$1/$entry")" = "$bytes $crc" ] || { echo "$entry"; return 1; }
    done <listed
}

# pattern KIB: what the fake kernel sends as so many KiB of trace or files.
pattern() {
    perl -e 'my @low = map { sprintf "%04x\n", $_ * 16 } 0 .. 4095;
        for (my ($high, $left) = (0, $ARGV[0] * 64); $left > 0; $high++, $left -= @low) {
            my $digits = sprintf "%011x", $high;
            print map { $digits . $_ } @low[0 .. ($left < @low ? $left : @low) - 1];
        }' "$1"
}
