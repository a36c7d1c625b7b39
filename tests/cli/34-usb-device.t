#!/bin/sh
# hr usb -o DEVICE: a loop device that /sys says is a stick, in a mount namespace of its own.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/stick.sh"
PATH=$PATH:/usr/sbin:/sbin
for tool in sfdisk mkfs.fat mcopy losetup unshare setsid script; do
    command -v $tool >/dev/null || skip_all "no $tool"
done
[ "$(id -u)" -eq 0 ] || skip_all 'loop devices need root'
truncate -s 100000000 stick
device=$(losetup -f --show stick 2>/dev/null) || skip_all 'no loop device is to be had here'
trap 'losetup -d "$device" 2>/dev/null; rm -rf "$work"' EXIT
disk=${device##*/}
number=$(cat "/sys/block/$disk/dev")
unshare -m true 2>/dev/null || skip_all 'no mount namespace is to be had here'
new_image

# attribute NAME TEXT: of the disk in the /sys that hr sees.
attribute() {
    mkdir -p "sys/usb9/block/$disk/$(dirname "$1")"
    echo "$2" >"sys/usb9/block/$disk/$1"
}
attribute dev "$number"
attribute removable 1
attribute ro 0
attribute size 195312
attribute queue/logical_block_size 512
attribute device/vendor ACME
attribute device/model 'Pretended Stick'
mkdir "sys/usb9/block/$disk/holders"
ln -s "usb9/block/$disk" "sys/$number"

# stick [COMMAND...] -- ARG...: hr usb --loader ... ARG, started by COMMAND, where the device is a stick.
cat >there.sh <<'END'
#!/bin/sh
mount --bind "$1" /sys/dev/block || exit 99
shift
exec "$@"
END
chmod +x there.sh
stick() {
    status=0
    timeout -k 10 "$LIMIT" unshare -m ./there.sh "$work/sys" setsid -w "$HR" usb --loader loader.efi "$@" >out 2>err </dev/null ||
        status=$?
}

# answer TEXT: the same at a terminal, where TEXT is typed; what is said is in screen.
answer() {
    status=0
    text=$1
    shift
    printf '%s\n' "$text" | timeout -k 10 "$LIMIT" unshare -m ./there.sh "$work/sys" script -qec "'$HR' usb --loader loader.efi $*" /dev/null \
        >screen 2>&1 || status=$?
}

run_hr usb --loader loader.efi -o "$device" "$WORKLOADS/hello"
is 'a disk that is built in: status' "$status" 125
like 'a disk that is built in: message' err "$device .*is neither removable nor on USB"
before=$(cksum <"$device")
stick -o "$device" "$WORKLOADS/hello"
is 'no terminal: status' "$status" 125
like 'no terminal: message' err 'no terminal on which to ask.*--yes'
stick -o "$device" --yes --size 1G "$WORKLOADS/hello"
like 'a size: refused' err '--size is for images'
attribute size 80000
stick -o "$device" --yes "$WORKLOADS/hello"
like 'too small: refused' err '39 MB are too few'
attribute size 195312
answer no -o "$device" "$WORKLOADS/hello"
is 'the answer is no: status' "$status" 125
like 'the answer is no: what was asked' screen "write to $device \(ACME Pretended Stick, 100\.00 MB\)\? .*Type yes: "
like 'the answer is no: said' screen "$device was not changed, because the answer was not yes"
answer y -o "$device" "$WORKLOADS/hello"
is 'y is not yes' "$status" 125
mkfifo go
perl -MFcntl -e 'sysopen F, $ARGV[0], O_RDWR | O_EXCL or die; open W, ">", "held"; print W "held"; close W; open R, "<", "go"; <R>' "$device" &
holder=$!
for _ in $(seq 100); do
    [ -s held ] && break
    sleep 0.1
done
stick -o "$device" --yes "$WORKLOADS/hello"
is 'somebody else has it: status' "$status" 125
like 'somebody else has it: message' err "$device is in use"
echo >go
wait $holder
is 'until now nothing was written' "$(cksum <"$device")" "$before"

answer yes -o "$device" "$WORKLOADS/hello" a b
is 'yes: status' "$status" 0
like 'yes: said' screen "$device: [0-9.]+ MB written and read back; it can be pulled out"
ok 'yes: the partition table is in order' sfdisk --verify "$device"
is 'yes: nearly all is the partition' "$(sfdisk --json "$device" | jq '.partitiontable.partitions[0].size')" 190464
dd if="$device" of=part.img bs=1M skip=1 count=93 status=none
ok 'yes: the file system is in order' fsck.fat -n part.img
mtype -i "$device@@1M" ::/microtome.conf >conf
like 'yes: configuration' conf '^archive = .microtome.runs.hello\.cpio'

# What a machine leaves there comes back.
begin 1000
describe
mmd -i "$device@@1M" ::/results/001
mcopy -i "$device@@1M" it/* ::/results/001/
stick --collect "$device" -o r --clear
is 'collect: status' "$status" 0
is 'collect: samples' "$(stat_of r/001/hr.bin .samples)" 1000
is 'collect: cleared' "$(mdir -b -i "$device@@1M" ::/results/)" ''
stick -o "$device" --yes one.cpio
is 'a failure before anything is written: status' "$status" 127
ok 'a failure before anything is written: the stick is as it was' sfdisk --verify "$device"
mkdir "sys/usb9/block/$disk/holders/dm-0"
stick -o "$device" --yes "$WORKLOADS/hello"
like 'a part of something: refused' err 'is a part of dm-0'
stick --collect "$device" -o r --clear
like 'a part of something: not cleared either' err 'is a part of dm-0'
done_testing
