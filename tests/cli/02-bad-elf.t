#!/bin/sh
# Programs that are not what they should be: each is refused with one line and status 126.
. "$(dirname "$0")/../lib.sh"
hello=$WORKLOADS/hello-musl

# patch FILE OFFSET HEX: overwrites bytes of a file.
patch() {
    printf '%s' "$3" | perl -e 'open(F, "+<", $ARGV[0]) or die; seek(F, $ARGV[1], 0);
        print F pack("H*", <STDIN>)' "$1" "$2"
}

# refused NAME REGEX [OFFSET HEX]...: a copy of hello with these bytes changed is refused.
refused() {
    name=$1 regex=$2
    shift 2
    cp "$hello" bad
    chmod +w bad
    while [ $# -gt 0 ]; do
        patch bad "$1" "$2"
        shift 2
    done
    run_hr run ./bad
    is "$name: status" "$status" 126
    like "$name: message" err "$regex"
    is "$name: one line" "$(grep -c . err)" 1
}

# Offsets in the ELF header: class 4, data 5, type 16, machine 18, entry 24, phoff 32, phentsize 54,
# phnum 56.  The first PT_LOAD's header is found below.
load=$(perl -e 'open(F, $ARGV[0]); read(F, $h, 4096); ($off) = unpack("x32 Q", $h);
    ($size, $n) = unpack("x54 S S", $h);
    for (0 .. $n - 1) { $o = $off + $_ * $size; if (unpack("x$o L", $h) == 1) { print $o; last } }' "$hello")

refused 'bad magic' 'ELF' 0 7f454c47
refused '32-bit' '32' 4 01
refused 'big-endian' 'machine|endian|x86-64' 5 02
refused 'foreign machine' 'machine|x86-64' 18 b700
refused 'object file' 'executable|type|object' 16 0100
refused 'core file' 'executable|type|core' 16 0400
refused 'program headers past the end' 'truncated|header' 32 ffffffffffffff7f
refused 'wrong program header size' 'header' 54 1000
refused 'no program headers' 'load|segment|header' 56 0000
refused '65535 program headers' 'header|segment|truncated' 56 ffff
refused 'entry outside the program' 'entry' 24 0000000000100000
refused 'segment past the end of the file' 'truncated|end' $((load + 32)) 00000000ffff0000 $((load + 40)) 00000000ffff0000
refused 'segment in kernel space' 'address' $((load + 16)) 00000080ffffffff
refused 'segment whose end overflows' 'address|header' $((load + 16)) 00f0ffffffffffff
refused 'more in the file than in memory' 'header' $((load + 40)) 0100000000000000
refused 'segment below 64 KiB' 'address' $((load + 16)) 0000000000000000

for bytes in 0 3 16 63 64 200; do
    head -c "$bytes" "$hello" >bad
    chmod +x bad
    run_hr run ./bad
    is "truncated to $bytes bytes: status" "$status" 126
done
head -c $(($(stat -c %s "$hello") / 4)) "$hello" >bad
run_hr run ./bad
is 'truncated to a quarter: status' "$status" 126
like 'truncated to a quarter: message' err 'truncated'
{ cat "$hello"; head -c 200000000 /dev/zero; } >large
chmod +x large
run_hr run --mem 64M ./large
ok 'program larger than memory: refused' test "$status" -ge 125
like 'program larger than memory: message' err 'mem'
done_testing
