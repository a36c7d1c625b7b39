#!/bin/sh
# How fast the loader writes a trace of 64 MiB to a stick, and how fast the firmware's own shell copies such a file there:
# prints both in bytes per second. On OVMF in an emulator.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/firmware/lib.sh"
mebibytes=64

printf 't %s\nk 1 0\n' $((mebibytes * 1024)) >large.cpio
stick_make usb.img 200 "$FAKE_KERNEL" 'memory = 64M' -- large.cpio
usb_boot usb.img
ours=$(sed -n 's/.*results are in .*: \([0-9]*\) bytes in \([0-9.]*\) s.*/\1 \2/p' said | awk '{ printf "%.0f", $1 / $2 }')

rm -f usb.img
mkfs.fat -C -F 32 -s 1 usb.img $((200 * 1024)) >mkfs.log
head -c "${mebibytes}M" /dev/zero >large.bin
mcopy -i usb.img large.bin ::/large.bin
printf 'echo COPY-BEGINS\r\ncp fs0:\\large.bin fs0:\\copy.bin\r\necho COPY-ENDS\r\nreset -s\r\n' >startup.nsh
mcopy -i usb.img startup.nsh ::/startup.nsh
timeout 300 "$QEMU" -machine q35 -accel tcg -cpu max -m 1G -bios "$OVMF" -display none -monitor none -nic none -no-reboot \
    -serial stdio -device qemu-xhci -drive if=none,id=stick,format=raw,file=usb.img \
    -device usb-storage,drive=stick,bootindex=0,removable=on </dev/null 2>qemu.log |
    perl -MTime::HiRes=time -ne '$| = 1; $begin = time if /^COPY-BEGINS/; $end = time if /^COPY-ENDS/;
        END { printf "%.3f\n", $end - $begin }' >seconds
mcopy -n -i usb.img ::/copy.bin copy.bin 2>/dev/null
cmp -s large.bin copy.bin || { echo 'stick.sh: the shell did not copy' >&2; exit 1; }
echo "${ours:-0} $(awk -v bytes=$((mebibytes * 1048576)) '{ printf "%.0f", bytes / $1 }' seconds)"
