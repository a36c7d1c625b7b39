#!/bin/sh
# hr usb: the image's layout, what microtome.conf says, archives, and what is refused before anything is written.
. "$(dirname "$0")/../lib.sh"
for tool in sfdisk mkfs.fat fsck.fat mcopy mdir; do
    PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null || skip_all "no $tool"
done
PATH=$PATH:/usr/sbin:/sbin
hello=$WORKLOADS/hello
loader=$work/loader.efi
head -c 123456 /dev/urandom >"$loader"

# usb ARG...: hr usb with a loader that is there in any case.
usb() {
    run_hr usb --loader "$loader" "$@" </dev/null
}

# on IMAGE PATH: the contents of a file of the image.
on() {
    mcopy -i "$1@@1M" "::$2" - 2>/dev/null
}

# conf IMAGE KEY: its values, one a line.
conf() {
    on "$1" /microtome.conf | sed -n "s/^$2 = \([^#]*[^# ]\).*/\1/p"
}

# refused STATUS REGEX NAME ARG...: that status, one line that matches, no image.
refused() {
    want=$1 regex=$2 name=$3
    shift 3
    rm -f usb.img
    usb "$@"
    is "$name: status" "$status" "$want"
    like "$name: message" err "$regex"
    is "$name: one line" "$(grep -c . err)" 1
    ok "$name: no image, nor a part of one" test -z "$(ls -d usb.img* 2>/dev/null)"
}

usb -o usb.img "$hello" one 'two words'
is 'a program: status' "$status" 0
is 'a program: one line says what was done' "$(grep -c . err)" 1
like 'a program: runs and sizes' err 'usb\.img: 1 run, [0-9.]+ MB used of 2\.15 GB'
is 'a program: 2 GiB unless asked otherwise' "$(stat -c %s usb.img)" 2147483648
ok 'a program: sparse' test "$(du -m usb.img | cut -f 1)" -lt 40
ok 'a program: the GPT is in order' sfdisk --verify usb.img
sfdisk --json usb.img >table
is 'a program: one partition, of EFI'\''s type' \
    "$(jq -r '.partitiontable | .label, (.partitions | length), .partitions[0].type, .partitions[0].start' table | paste -sd ' ')" \
    'gpt 1 C12A7328-F81F-11D2-BA4B-00A0C93EC93B 2048'
# what lies in the partition, and no holes, of which it mostly consists
python3 - <<'END'
import os
image, part, at, end = os.open("usb.img", os.O_RDONLY), os.open("part.img", os.O_RDWR | os.O_CREAT), 1 << 20, 2047 << 20
os.truncate(part, end - at)
while (at := os.lseek(image, at, os.SEEK_DATA)) < end:
    hole = min(os.lseek(image, at, os.SEEK_HOLE), end)
    os.pwrite(part, os.pread(image, hole - at, at), at - (1 << 20))
    at = hole
END
fsck.fat -n part.img >fsck 2>&1
is 'a program: the file system is in order' "$?" 0
is 'a program: and has nothing to mend' "$(grep -cE 'differ|wrong|free cluster|Dirty|orphan' fsck)" 0
rm -f part.img
is 'a program: files' "$(mdir -b -/ -i usb.img@@1M ::/ | sort | paste -sd ' ')" \
    '::/EFI/ ::/EFI/BOOT/ ::/EFI/BOOT/BOOTX64.EFI ::/README.TXT ::/microtome.conf ::/microtome/ ::/microtome/guest.elf ::/microtome/runs/ ::/microtome/runs/hello.cpio ::/results/'
on usb.img /EFI/BOOT/BOOTX64.EFI >x
same_file 'a program: the loader' x "$loader"
on usb.img /microtome/guest.elf >x
same_file 'a program: the kernel' x "$BUILD/guest.elf"
is 'conf: sizes' "$(conf usb.img kernel-bytes) $(conf usb.img bytes)" \
    "$(stat -c %s "$BUILD/guest.elf") $(on usb.img /microtome/runs/hello.cpio | wc -c)"
is 'conf: the run' "$(conf usb.img archive) $(conf usb.img name) $(conf usb.img repeat)" '\microtome\runs\hello.cpio hello 1'
is 'conf: defaults' "$(for key in output end firmware buffer; do conf usb.img $key; done | paste -sd ' ')" \
    'stick power-off keep all'
on usb.img /microtome/runs/hello.cpio >run.cpio
mkdir x.d
(cd x.d && cpio -idu --quiet <../run.cpio)
tr '\0' '\n' <x.d/microtome/manifest >manifest
is 'the archive: arguments' "$(grep -E '^arg=' manifest | paste -sd ' ')" "arg=$hello arg=one arg=two words"
is 'the archive: no terminal' "$(grep -E '^(tty|rows)=|^env=TERM' manifest)" 'tty=0'
is 'the archive: a service and a workload CPU' "$(grep -E '^(cpus|virtual-time)=' manifest | paste -sd ' ')" 'cpus=1 virtual-time=1'
is 'the archive: every group has an encoding for each event' \
    "$(awk -F = '$1 == "event" { events++ } $1 == "target-cpu" { groups++ } $1 == "event-encoding" { n++ }
        END { print(groups >= 3 && n == events * groups ? "yes" : "no: " groups " " events " " n) }' manifest)" yes
sed -n 's/^target-cpu=//p' manifest | tr , '\n' >cpus
is 'the archive: every CPU is in one group' "$(sort cpus | uniq -d)" ''
for cpu in intel-6-106 intel-6-143 amd-25-1 amd-23-49 intel amd; do
    ok "the archive: events for $cpu" grep -qx "$cpu" cpus
done
run_hr pack --accel tcg --target-cpu intel-6-106 -o one.cpio "$hello" </dev/null
encoded=$(cpio -i --quiet --to-stdout microtome/manifest <one.cpio 2>/dev/null | tr '\0' '\n' | grep '^event-encoding=')
is 'the archive: a CPU'\''s group holds what it is alone given' "$(awk -v cpu=intel-6-106 -F = '
    $1 == "target-cpu" { on = 0; n = split($2, cpus, ","); for (i = 1; i <= n; i++) if (cpus[i] == cpu) on = 1 }
    $1 == "event-encoding" && on' manifest)" "$encoded"

# The checksums are CRC32C: computed here bit by bit.
crc32c() {
    perl -e 'local $/; binmode STDIN; my @t = map { my $c = $_; $c = $c & 1 ? ($c >> 1) ^ 0x82f63b78 : $c >> 1 for 1 .. 8; $c } 0 .. 255;
        my $c = 0xffffffff; $c = ($c >> 8) ^ $t[($c ^ $_) & 255] for unpack "C*", <STDIN>; printf "%08x\n", $c ^ 0xffffffff'
}
is 'conf: checksum of the kernel' "$(conf usb.img kernel-crc32c)" "$(crc32c <"$BUILD/guest.elf")"
is 'conf: checksum of the archive' "$(conf usb.img crc32c)" "$(crc32c <run.cpio)"

printf 'text for the program\n' >text
usb -o usb.img --size 80M --mem all --buffer 64M --at-end reboot --machine lab-7 --timeout 90s --repeat 3 --resumable --cpus 0 -i 1us \
    -e instructions,cycles -g --keep-files --stdin text --env A=b "$hello"
is 'options: status' "$status" 0
is 'options: conf' "$(for key in memory buffer end machine timeout repeat; do conf usb.img $key; done | paste -sd ' ')" \
    'all 64M reboot lab-7 90000000000ns 3'
is 'options: a stick that continues' "$(conf usb.img progress) $(on usb.img /microtome/progress.txt | head -n 1)" '\microtome\progress.txt ...'
is 'options: size' "$(stat -c %s usb.img)" 83886080
rm -rf x.d
mkdir x.d
on usb.img /microtome/runs/hello.cpio | (cd x.d && cpio -idu --quiet)
tr '\0' '\n' <x.d/microtome/manifest >manifest
is 'options: manifest' "$(grep -E '^(interval|cpus|keep-files|stacks|event)=|^env=A' manifest | sort | paste -sd ' ')" \
    'cpus=0 env=A=b event=cycles event=instructions interval=1000 keep-files=1 stacks=fp'
is 'options: the time is in microtome.conf alone, where it can be removed' "$(grep -c '^timeout=' manifest)" 0
same_file 'options: standard input' x.d/microtome/stdin text
run_hr usb --loader "$loader" --size 80M --stdin - "$hello" <text
on usb.img /microtome/runs/hello.cpio | (cd x.d && cpio -idu --quiet)
same_file 'standard input from the command'\''s own' x.d/microtome/stdin text
seq 100000 | { run_hr usb --loader "$loader" --size 80M --stdin - "$hello"; }
on usb.img /microtome/runs/hello.cpio | (cd x.d && cpio -idu --quiet)
is 'standard input from a pipe' "$(cksum <x.d/microtome/stdin)" "$(seq 100000 | cksum)"

# The same program, files, arguments and environment as under hr run, so that counts can be equal.
run_hr pack --accel tcg --cpus 0 -o pack.cpio "$WORKLOADS/phases" a b </dev/null
usb -o usb.img "$WORKLOADS/phases" a b
on usb.img /microtome/runs/phases.cpio >stick.cpio
is 'the same files as under emulation' "$(cpio -itv --quiet <stick.cpio | grep -v microtome/manifest)" \
    "$(cpio -itv --quiet <pack.cpio | grep -v microtome/manifest)"
of_program() {
    cpio -i --quiet --to-stdout microtome/manifest <"$1" 2>/dev/null | tr '\0' '\n' |
        grep -E '^(program|program-path|arg|env|cwd|hostname|mode|interval|event|start-unix-ns)='
}
is 'the same program, arguments and environment' "$(of_program stick.cpio)" "$(of_program pack.cpio)"

run_hr pack --target-cpu all -o any.cpio "$WORKLOADS/phases" a b </dev/null
of_archive() {
    cpio -i --quiet --to-stdout microtome/manifest <"$1" 2>/dev/null | tr '\0' '\n' | grep -v '^kernel-path='
}
is 'hr pack --target-cpu all makes what hr usb makes' "$(of_archive any.cpio)" "$(of_archive stick.cpio)"

printf 'sekrit-1\r\nand a note # for people\n' >token
usb -o usb.img --network 192.168.7.2 --address 192.168.7.50/24 --gateway 192.168.7.1 --token token --firmware exit "$hello"
is 'network: status' "$status" 0
is 'network: conf' "$(for key in output collector address gateway token firmware; do conf usb.img $key; done | paste -sd ' ')" \
    'network 192.168.7.2:4817 192.168.7.50/24 192.168.7.1 sekrit-1 exit'
HR_TOKEN=from-there run_hr usb --loader "$loader" --network 10.0.0.1:99 "$hello"
is 'network: port, DHCP, the token of the environment' "$(for key in collector address token; do conf usb.img $key; done | paste -sd ' ')" \
    '10.0.0.1:99 dhcp from-there'

# Several runs.
for name in one 'Two words' ONE; do
    run_hr pack --target-cpu all --cpus 0 --accel tcg -o "$name.cpio" "$hello" "$name" </dev/null
done
mkdir sub
cp one.cpio sub/one.cpio
usb -o usb.img --repeat 2 one.cpio 'Two words.cpio' ONE.cpio sub/one.cpio
is 'archives: status' "$status" 0
is 'archives: names that FAT can tell apart' "$(conf usb.img name | paste -sd ' ')" 'one Two_words ONE-2 one-3'
is 'archives: repeated' "$(conf usb.img repeat | paste -sd ' ')" '2 2 2 2'
on usb.img '/microtome/runs/ONE-2.cpio' >x
same_file 'archives: contents' x ONE.cpio
mkdir 'a@@b c:'
cp one.cpio 'a@@b c:/c:o*e.cpio'
(cd 'a@@b c:' && exec "$HR" usb --loader "$loader" -o 'u@@1.img' 'c:o*e.cpio') >out 2>err
is 'names that mean something to mtools: status' "$?" 0
mv 'a@@b c:/u@@1.img' usb.img
is 'names that mean something to mtools: the run' "$(conf usb.img name)" c_o_e
on usb.img '/microtome/runs/c_o_e.cpio' >x
same_file 'names that mean something to mtools: contents' x one.cpio
run_hr pack --accel tcg -o bare.cpio "$hello" </dev/null
run_hr pack --accel tcg -m off --target-cpu all -e rc0 -o raw.cpio "$hello" </dev/null
usb raw.cpio
is 'archives: raw events are the same everywhere' "$status" 0

refused 125 'not encoded.*hr pack --target-cpu all' 'an archive for a host that encodes' bare.cpio
head -c 500000 one.cpio >short.cpio
refused 125 'short\.cpio is damaged at byte' 'a damaged archive' short.cpio
(echo x >microtime && echo microtime | cpio -o --quiet -H newc) >other.cpio
refused 125 'other\.cpio holds no run' 'an archive of something else' other.cpio
refused 125 'nothing\.cpio|No such file' 'an archive that is not there' one.cpio nothing.cpio
refused 125 'ls.*no archive|no run|not.*archive' 'a program among archives' one.cpio "$hello"
refused 125 '--at-end.*options come before' 'options behind archives' one.cpio --at-end wait
refused 125 '--interval is a part of the archive' 'options of an archive' -i 1us one.cpio
refused 125 '--stdin is a part of the archive' 'standard input of an archive' --stdin text one.cpio
refused 125 'no program and no archive' 'nothing to run'
refused 127 'no-such-program' 'no such program' ./no-such-program
chmod +x text
refused 126 'not.*ELF|neither' 'no program' "$work/text"
refused 125 'no-such\.efi' 'no such loader' --loader no-such.efi "$hello"
refused 125 'no-such\.elf' 'no such kernel' --kernel no-such.elf "$hello"
refused 125 'the kernel text cannot be used: it is no ELF file' 'a kernel that is none' --kernel text "$hello"
perl -0777pe 's/\x02(\0\0\0Microtome)/\x03$1/' "$BUILD/guest.elf" >other.elf
refused 125 'other.elf was built without it.*make lwip' 'a kernel without network streaming' --kernel other.elf --network 10.0.0.1 "$hello"
refused 125 '70 MB are too few|20 MB are too few' 'too small' --size 20M "$hello"
refused 125 'too many' 'too large' --size 5T "$hello"
refused 125 '--size huge' 'no size' --size huge "$hello"
refused 125 '--resumable: after --firmware exit nothing' 'a stick that cannot be written' --resumable --network 1.2.3.4 --firmware exit "$hello"
refused 125 '--at-end explode: unknown; use power-off, reboot or wait' 'no end' --at-end explode "$hello"
refused 125 '--repeat 0' 'no number' --repeat 0 "$hello"
refused 125 '--repeat 10001: not a number from 1 to 10000' 'more than microtome.conf takes' --repeat 10001 "$hello"
refused 125 '--machine' 'no name' --machine ../x "$hello"
refused 125 '--network lab.example' 'a name for an address' --network lab.example "$hello"
refused 125 '--network 10.0.0.1:0' 'no port' --network 10.0.0.1:0 "$hello"
refused 125 '--address 10.0.0.2:' 'no network' --network 10.0.0.1 --address 10.0.0.2 "$hello"
refused 125 'DHCP finds it' 'a gateway alone' --network 10.0.0.1 --gateway 10.0.0.9 "$hello"
refused 125 '--network ADDRESS' 'an address without a collector' --address 10.0.0.2/24 "$hello"
refused 125 '--firmware exit is for' 'no firmware and nowhere to write' --firmware exit "$hello"
refused 125 'no such|No such file' 'no such token' --network 10.0.0.1 --token no-such "$hello"
printf 'two words\n' >token
refused 125 'the token in .* has characters that it may not have' 'a token with a blank' --network 10.0.0.1 --token token "$hello"
refused 125 'stdin.*No such file' 'no such input' --stdin no-such "$hello"
refused 125 'cpus 0.*ipi' 'an observer without a CPU' --cpus 0 -m ipi "$hello"
refused 125 'no known CPU has all of these events \(.*ALL_LOADS on [0-9]+, RETIRED_CPUID_INSTRUCTIONS on [0-9]+ kinds of CPU\)' 'events that no CPU has together' \
    -e MEM_INST_RETIRED.ALL_LOADS,RETIRED_CPUID_INSTRUCTIONS "$hello"
refused 125 'nearest known: .*MEM_INST_RETIRED.ALL_LOADS' 'an event that no CPU has' -e MEM_INST_RETIRED.ALL_LOAD "$hello"
usb -e MEM_INST_RETIRED.ALL_LOADS "$hello"
like 'events of some CPUs: said' err 'the events exist on [0-9]+ of [0-9]+ kinds of CPU'
refused 125 '^hr: /dev/sdnone: no such device; is the stick plugged in\? lsblk' 'a stick that is not there' -o /dev/sdnone "$hello"
ok 'a stick that is not there: no file has its name' test ! -e /dev/sdnone
refused 125 '^hr: /dev/null: no such device' 'a device that is no disk' -o /dev/null "$hello"
usb -o no/such/usb.img "$hello"
is 'a directory that is not there: status' "$status" 125
like 'a directory that is not there: message' err 'no/such/usb\.img'
usb -o one.cpio one.cpio
is 'onto its own archive: status' "$status" 125
like 'onto its own archive: message' err 'one\.cpio is an archive or program for the image, so the image cannot replace it'
is 'onto its own archive: it is as it was' "$(cksum <one.cpio)" "$(cksum <sub/one.cpio)"
echo before >usb.img
usb -o usb.img ./no-such-program
is 'a failure leaves what was there' "$(cat usb.img)" before
rm usb.img
mkdir no-tools
(PATH=$work/no-tools exec "$HR" usb --loader "$loader" "$hello") >out 2>err
is 'tools are found where systems keep them, whatever PATH says' "$?" 0
(ulimit -f 4096 && trap '' XFSZ && exec "$HR" usb --loader "$loader" -o small.img "$hello") >out 2>err
is 'a full disk: status' "$?" 125
ok 'a full disk: nothing is left' test -z "$(ls -d small.img* 2>/dev/null)"

# A BIOS is told why nothing starts, and a key restarts.
if command -v qemu-system-x86_64 >/dev/null; then
    usb -o usb.img --size 80M "$hello"
    mkfifo keys
    timeout 120 qemu-system-x86_64 -machine pc,accel=tcg,graphics=off -display none -monitor none -m 64 -net none -no-reboot \
        -serial stdio -drive file=usb.img,format=raw,if=ide <keys >screen 2>qemu.err &
    qemu=$!
    exec 9>keys
    for _ in $(seq 600); do
        grep -qa 'Press a key' screen && break
        sleep 0.1
    done
    like 'a BIOS: why' screen 'started the stick as a BIOS does, and the stick needs UEFI'
    like 'a BIOS: what to do' screen 'set the boot mode to UEFI'
    ok 'a BIOS: waits' kill -0 $qemu
    printf '\r' >&9
    wait $qemu
    is 'a BIOS: a key restarts' "$?" 0
    exec 9>&-
else
    skip 4 'no qemu-system-x86_64'
fi
done_testing
