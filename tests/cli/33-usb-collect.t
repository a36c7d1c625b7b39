#!/bin/sh
# hr usb --collect: results as the loader leaves them, cut off, damaged and hostile ones, and what is refused.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/stick.sh"
PATH=$PATH:/usr/sbin:/sbin
for tool in sfdisk mkfs.fat mcopy mdir perl; do
    command -v $tool >/dev/null || skip_all "no $tool"
done
new_image

# collect [ARG...]: from usb.img to the directory r.
collect() {
    run_hr usb --collect usb.img -o r "$@" </dev/null
}

collect
is 'nothing yet: status' "$status" 0
like 'nothing yet: said' err 'usb\.img: there are no results on it yet'

begin 20000
cp it/hr.bin whole
split_trace 30000
{
    message 1 7 0 0 'contents'
    message 3 0 0 755 /work
    message 2 7 8 640 /work/file
    message 4 0 5 0 /linkwork/file
    message 7 0 0 0 ''
} >it/files.bin
describe
put 001
collect
is 'a result: status' "$status" 0
is 'a result: its row' "$(sed -n 2p out | tr -s ' ')" \
    "001 hello lab-7 done status 3 20,000 0 $(awk "BEGIN { printf \"%.2f KB\", $(cat it/hr.bin* it/stdout it/files.bin it/log.txt | wc -c) / 1000 }")"
is 'a result: one line on standard error' "$(cat err)" 'hr: 1 result in r'
is 'a result: files' "$(cd r/001 && find . -type f -o -type l | sort | paste -sd ' ')" \
    './files/link ./files/work/file ./hr.bin ./log.txt ./result.conf ./stderr ./stdout'
same_file 'a result: output' r/001/stdout it/stdout
same_file 'a result: log' r/001/log.txt it/log.txt
is 'a result: kept file' "$(cat r/001/files/work/file) $(stat -c %a r/001/files/work/file)" 'contents 640'
is 'a result: kept link' "$(readlink r/001/files/link)" work/file
ok 'a result: the parts are joined' cmp -n "$(stat -c %s whole)" whole r/001/hr.bin
run_hr check r/001/hr.bin
is 'a result: the trace is complete, with its index' "$status" 0
is 'a result: samples' "$(stat_of r/001/hr.bin .samples)" 20000
is 'a result: nothing unfinished is left' "$(ls -A r)" 001

before=$(find r -type f -exec cksum {} + | sort)
collect
is 'again: status' "$status" 0
like 'again: the row says so' out '001 .*was here'
is 'again: nothing changed' "$(find r -type f -exec cksum {} + | sort)" "$before"
is 'again: nothing is left' "$(ls -A r)" 001

begin 3000
head -c 9000 it/hr.bin >x
mv x it/hr.bin
describe 'run = crash' 'machine = lab-7' 'end = panic' 'exit-kind = none' 'exit-code = 0' 'seconds = 1.5' 'reason = page fault at 0x10'
put 002
begin 100
rm it/hr.bin
describe 'run = none' 'machine = lab-7' 'end = not-started' 'exit-kind = none' 'exit-code = 0' 'seconds = 0.0' 'reason = the archive is damaged'
put 010
collect
is 'a panic: status: its trace is not whole' "$status" 1
like 'a panic: row' out '^002 +crash +lab-7 +panic +none '
like 'a panic: reason' err '^hr: 002: panic: page fault at 0x10'
like 'a panic: trace' err '^hr: 002: hr\.bin: the trace stops before the program did'
is 'a panic: the trace is readable, and closed' "$("$HR" check r/002/hr.bin | grep -c 'missing: HOST')" 0
like 'not started: row' out '^010 +none +lab-7 +not-started +none +- +- '
like 'not started: reason' err '^hr: 010: not-started: the archive is damaged'
ok 'not started: no trace' test ! -e r/010/hr.bin -a -e r/010/log.txt
is 'in order' "$(awk 'NR > 1 { print $1 }' out | paste -sd ' ')" '001 002 010'
like 'counted' err 'hr: 3 results in r, 1 incomplete$'

# The power was lost while this one was written.
new_image
begin 5000
head -c 40000 it/hr.bin >x
mv x it/hr.bin
rm it/log.txt
put 001
begin 5000
printf '# This result is not complete: the machine was switched off while it was written.\n\n\n\n\n' >it/result.conf
put 002
rm -rf r
collect
is 'power lost: status' "$status" 1
is 'power lost: rows' "$(awk 'NR > 1 { print $1, $4 }' out | paste -sd ' ')" '001 incomplete 002 incomplete'
like 'power lost: said' err '001: it was not written to its end'
ok 'power lost: samples up to there' test "$(stat_of r/001/hr.bin .samples)" -gt 500
is 'power lost: all samples of what was whole' "$(stat_of r/002/hr.bin .samples)" 5000
ok 'power lost: output' cmp it/stdout r/002/stdout
collect
is 'power lost, again: it was here' "$(grep -c 'was here' out)" 2
is 'power lost, again: nothing is left' "$(ls -A r | paste -sd ' ')" '001 002'

# Damage: the checksum says so, and what can be read is kept.
new_image
begin 60000
split_trace 150000
describe
perl -e 'open F, "+<", "it/hr.bin.1"; seek F, 20000, 0; print F "XXXX"'
put 001
begin 3000
describe
rm it/stdout
put 002
begin 3000
describe
echo more >>it/hr.bin
put 003
begin 3000
describe
head -c 20000 it/hr.bin >x
mv x it/hr.bin
put 004
begin 3000
describe
(cat it/result.conf && echo 'cut = hr.bin 77') >x
mv x it/result.conf
put 005
begin 10
head -c 5000 /dev/urandom >it/hr.bin
describe
put 006
rm -rf r
collect
is 'damage: status' "$status" 1
like 'damage: a checksum' err '^hr: 001: hr\.bin\.1 is damaged: its checksum is [0-9a-f]+ and should be [0-9a-f]+'
run_hr check r/001/hr.bin
like 'damage: only the damaged chunk is lost' out 'damaged: bytes [0-9]+ to [0-9]+'
ok 'damage: what comes behind it is there' test "$(stat_of r/001/hr.bin .samples)" -gt 45000
collect
like 'damage: a missing file' err '^hr: 002: stdout cannot be read: .*not found'
is 'damage: the trace beside it' "$(stat_of r/002/hr.bin .samples)" 3000
like 'damage: a longer file' err '^hr: 003: hr\.bin is longer than'
like 'damage: a shorter file' err '^hr: 004: hr\.bin has 20000 bytes and should have'
like 'a full stick' err '^hr: 005: the stick was full: 77 bytes are missing'
like 'no trace' err '^hr: 006: hr\.bin is no trace'
like 'counted' err '6 results in r, 1 incomplete, 5 damaged'

# Another result under a name that is taken.
new_image
begin 50
describe
put 001
mkdir other
cp -r r/001 other/001
run_hr usb --collect usb.img -o other
is 'a name that is taken: status' "$status" 1
like 'a name that is taken: message' err '001: other/001 holds another result, which stays; name another directory with -o: after --clear numbers begin at 001'
ok 'a name that is taken: it stays' diff -r r/001 other/001
is 'a name that is taken: nothing else' "$(ls -A other)" 001

# A first collection that came only so far must not cost what the stick still has.
# interrupted NAME: collects into r while a signal comes as the file NAME is read.
mkdir tools
interrupted() {
    printf '#!/bin/sh\ncase "$*" in *%s*) kill -INT $PPID; exit 1 ;; esac\nexec %s "$@"\n' "$1" "$(command -v mcopy)" >tools/mcopy
    chmod +x tools/mcopy
    rm -rf r
    PATH=$work/tools:$PATH run_hr usb --collect usb.img -o r </dev/null
    is "interrupted at $1: status" "$status" 125
    like "interrupted at $1: said" err '^hr: interrupted$'
    is "interrupted at $1: nothing is left" "$(ls -A r)" ''
}
new_image
begin 50
{
    message 1 7 0 0 'contents'
    message 2 7 8 644 /work/file
    message 4 0 5 0 /linkwork/file
    message 7 0 0 0 ''
} >it/files.bin
describe
put 001
for name in result.conf stdout hr.bin files.bin; do
    interrupted $name
done
# lacking NAME COMMAND...: the stick keeps a result of which the copy here lacks something.
lacking() {
    name=$1
    shift
    rm -rf r
    collect
    "$@"
    collect --clear
    is "$name: status" "$status" 1
    like "$name: said" err '001: r/001 holds another result'
    is "$name: the stick keeps it" "$(mdir -b -i usb.img@@1M ::/results/)" '::/results/001/'
}
lacking 'a file is missing here' rm r/001/files/work/file
lacking 'all files are missing here' rm -r r/001/files
lacking 'a file is shorter here' truncate -s 4 r/001/files/work/file
lacking 'a file has other bytes here' cp "$HR" r/001/files/work/file
lacking 'a link leads elsewhere here' ln -sfn /dev/zero r/001/files/link
lacking 'a pipe is here' sh -c 'rm r/001/files/work/file && mkfifo r/001/files/work/file'
lacking 'a part of the output is missing here' truncate -s 1 r/001/stdout
rm -rf r
collect
echo note >r/001/files/note
collect --clear
is 'more is here: it is the same result' "$status $(mdir -b -i usb.img@@1M ::/results/)" '0 '

# What reads a stick may take so much time and memory, whatever it finds there.
cat >tools/mdir <<'E2'
#!/bin/sh
n=0
while [ $n -lt 100000 ] && { [ "$(ulimit -t)" = unlimited ] || [ "$(ulimit -v)" = unlimited ]; }; do n=$((n + 1)); done
echo "$(ulimit -t) $(ulimit -v)" >"$LIMITS"
kill -KILL $$
E2
chmod +x tools/mdir
LIMITS=$work/limits PATH=$work/tools:$PATH run_hr usb --collect usb.img -o r </dev/null
is 'limits of mtools: seconds and KiB' "$(cat limits)" '300 1048576'
is 'no end: status' "$status" 125
like 'no end: one line' err '^hr: usb\.img: no results can be read \(mdir was killed or did not end within 300 s; the file system may be damaged'
rm tools/mdir

# Names and texts that nobody should trust.
new_image
begin 50
describe "run = $(printf 'x\033]0;title\007y')" 'end = done' 'exit-kind = status' 'exit-code = 0' 'unknown-key = 7' \
    "machine = $(head -c 200 /dev/zero | tr '\0' m)"
put 001
begin 50
{
    message 1 7 0 0 'evil'
    message 2 7 4 644 /../../../../../tmp/microtome-escaped
    message 7 0 0 0 ''
} >it/files.bin
describe
put 002
begin 50
describe 'end = done' 'file = ../../x 3 00000000'
put 003
begin 50
describe 'end = done' 'file = stdout 99999999999 00000000'
put 004
begin 50
head -c 2000000 /dev/zero | tr '\0' '#' >it/result.conf
put 005
begin 50
describe
mkdir it/hr.bin.d
mv it/hr.bin it/hr.bin.d
put 006
mcopy -s -i usb.img@@1M it/hr.bin.d ::/results/006/ 2>/dev/null
for name in 1234567890 two 'a b' 7x; do mmd -i usb.img@@1M "::/results/$name"; done
echo file | mcopy -i usb.img@@1M - ::/results/009
rm -rf r
collect
is 'hostile: status' "$status" 1
is 'hostile: only results count' "$(awk 'NR > 1 { print $1 }' out | paste -sd ' ')" '001 002 003 004 005 006'
is 'hostile: no control characters' "$(cat out err | tr -d '\n' | LC_ALL=C grep -c '[[:cntrl:]]')" 0
like 'hostile: texts are escaped' out '^001 +x\\x1b'
like 'hostile: a path that leads out' err '^hr: 002: files\.bin: a name that is no path'
ok 'hostile: leads nowhere' test ! -e /tmp/microtome-escaped
like 'hostile: a file of another name' err '003: result\.conf, line 3: a result has no file of the name \.\./\.\./x'
like 'hostile: a size beyond FAT' err '004: result\.conf, line 3: not a file'
like 'hostile: a long result.conf' err '005: result\.conf is too long'
is 'hostile: the traces are taken nevertheless' "$(for n in 001 002 003 004 005; do stat_of r/$n/hr.bin .samples; done | paste -sd ' ')" \
    '50 50 50 50 50'

# A file system that leads in circles: the chain of hr.bin's clusters, and a directory in itself.
new_image
begin 20000
describe
put 001
perl -e 'open F, "+<", "usb.img" or die; binmode F; my $o = 1 << 20; seek F, $o, 0; read F, my $b, 512;
    my ($sector, $per, $reserved, $fats) = unpack "x11 S<CS<C", $b; my $size = unpack "x36 L<", $b; my $root = unpack "x44 L<", $b;
    sub cluster { my $n = shift; $o + ($reserved + $fats * $size + ($n - 2) * $per) * $sector }
    sub find { my ($n, $name) = @_; for (;;) { seek F, cluster($n), 0; read F, my $d, $per * $sector;
        for (my $i = 0; $i < length $d; $i += 32) { my $e = substr $d, $i, 32; next if ord(substr $e, 11) == 15;
            return (unpack("S<", substr $e, 20) << 16 | unpack("S<", substr $e, 26), cluster($n) + $i) if substr($e, 0, 11) eq $name }
        seek F, $o + $reserved * $sector + 4 * $n, 0; read F, my $f, 4; $n = unpack "L<", $f; return if $n >= 0x0ffffff8 } }
    my ($results) = find($root, "RESULTS    "); my ($first) = find($results, "001        "); my ($hr, $entry) = find($first, "HR      BIN");
    die unless $hr; for my $copy (0 .. $fats - 1) { seek F, $o + ($reserved + $copy * $size) * $sector + 4 * ($hr + 3), 0; print F pack "L<", $hr }
    seek F, $entry + 28, 0; print F pack "L<", 0xfffffff0;
    for my $copy (0 .. $fats - 1) { seek F, $o + ($reserved + $copy * $size) * $sector + 4 * $results, 0; print F pack "L<", $results }' || echo '# no such entry'
rm -rf r
collect
is 'circles: an end, and not a good one' "$([ "$status" -ne 124 ] && [ "$status" -ne 0 ] && echo yes)" yes

# File systems damaged in many ways, the same ones each time; under the sanitizers where built.
sanitized=$BUILD/unit/hr
[ -x "$sanitized" ] || sanitized=$HR
truncate -s 3M small.img
mkfs.fat -F 16 -s 1 -r 64 small.img >/dev/null || exit 1
mmd -i small.img ::/results
for number in 001 002; do
    begin 500
    describe
    mmd -i small.img ::/results/$number
    mcopy -i small.img it/* ::/results/$number/
done
mutants=${HR_TEST_LONG:+2000}
# mutant SEED: prints what is wrong with how hr takes it.
mutant() {
    "$TOOLS/mutate_fat" "$1" small.img mutant.img || echo "$1: no mutant"
    rm -rf r
    ended=0
    timeout -k 5 60 "$sanitized" usb --collect mutant.img -o r >out 2>err </dev/null || ended=$?
    [ "$ended" -le 1 ] || [ "$ended" -eq 125 ] || echo "$1: status $ended"
    [ "$ended" -ne 125 ] || [ "$(grep -c . err)" -eq 1 ] || echo "$1: $(grep -c . err) lines"
    [ -s err ] || echo "$1: nothing said"
    grep -aE 'Sanitizer|runtime error' err
    cat out err | tr -d '\n' | LC_ALL=C grep -ac '[[:cntrl:]]' >controls
    [ "$(cat controls)" -eq 0 ] || echo "$1: control characters"
}
is 'damaged file systems' "$(for seed in $(seq "${mutants:-60}"); do mutant "$seed"; done)" ''

# Three results that share the clusters of one file are more than the file system holds.
new_image
begin 50
head -c 40000000 /dev/zero >it/stdout
describe
put 001
for number in 002 003; do
    echo small >it/stdout
    put $number
done
perl -e 'open F, "+<", "usb.img" or die; binmode F; my $o = 1 << 20; seek F, $o, 0; read F, my $b, 512;
    my ($sector, $per, $reserved, $fats) = unpack "x11 S<CS<C", $b; my $size = unpack "x36 L<", $b; my $root = unpack "x44 L<", $b;
    sub cluster { my $n = shift; $o + ($reserved + $fats * $size + ($n - 2) * $per) * $sector }
    sub find { my ($n, $name) = @_; for (;;) { seek F, cluster($n), 0; read F, my $d, $per * $sector;
        for (my $i = 0; $i < length $d; $i += 32) { my $e = substr $d, $i, 32; next if ord(substr $e, 11) == 15;
            return (unpack("S<", substr $e, 20) << 16 | unpack("S<", substr $e, 26), cluster($n) + $i) if substr($e, 0, 11) eq $name }
        seek F, $o + $reserved * $sector + 4 * $n, 0; read F, my $f, 4; $n = unpack "L<", $f; return if $n >= 0x0ffffff8 } }
    my ($results) = find($root, "RESULTS    "); my @at = map { my ($d) = find($results, "00$_        "); my (undef, $e) = find($d, "STDOUT     "); $e } 1 .. 3;
    seek F, $at[0] + 20, 0; read F, my $first, 12; for (@at[1, 2]) { seek F, $_ + 20, 0; print F $first }' || echo '# no such entry'
rm -rf r
collect
is 'shared clusters: status' "$status" 1
like 'shared clusters: the first result is whole' out '^001 .* 40\.0'
like 'shared clusters: said' err '00[23]: stdout: with it the results would be longer than the file system'
ok 'shared clusters: no more than the stick is' test "$(du -sm --apparent-size r | cut -f 1)" -lt 85

# Removing what was collected.
new_image
begin 1000
describe
put 001
begin 1000
rm it/hr.bin
put 002
rm -rf r
collect --clear
is 'clear: status: one is incomplete' "$status" 1
is 'clear: that one stays' "$(mdir -b -i usb.img@@1M ::/results/ | paste -sd ' ')" '::/results/002/'
like 'clear: said' err '1 removed from the stick, the others stay there'
mmd -i usb.img@@1M ::/results/003
begin 100
describe
mcopy -i usb.img@@1M it/* ::/results/003/
echo mine | mcopy -i usb.img@@1M - ::/results/003/notes
collect --clear
like 'clear: what is not a result stays' err '003 cannot be removed from the stick'
is 'clear: it is there' "$(mtype -i usb.img@@1M ::/results/003/notes)" mine

# Without a partition table: a stick that was formatted by hand.
begin 1000
describe
truncate -s 40M flat.img
mkfs.fat -F 32 flat.img >/dev/null
mmd -i flat.img ::/results ::/results/001
mcopy -i flat.img it/* ::/results/001/
mv flat.img 'c:fl@@1 *.img'
run_hr usb --collect 'c:fl@@1 *.img' -o flat
is 'no partition table: status' "$status" 0
is 'no partition table: samples' "$(stat_of flat/001/hr.bin .samples)" 1000

# refused REGEX NAME ARG...: 125 and one line that matches.
refused() {
    regex=$1 name=$2
    shift 2
    run_hr usb "$@"
    is "$name: status" "$status" 125
    like "$name: message" err "$regex"
    is "$name: one line" "$(grep -c . err)" 1
}

refused 'no-such\.img: No such file' 'no such image' --collect no-such.img
refused 'Is a directory' 'a directory' --collect /tmp
refused 'takes results off an image' 'a program, too' --collect usb.img "$WORKLOADS/hello"
refused 'add --collect' 'clear alone' --clear "$WORKLOADS/hello"
refused 'null: ' 'a character device' --collect /dev/null
: >empty.img
refused 'empty\.img: ' 'an empty file' --collect empty.img
head -c 3000000 /dev/urandom >noise.img
refused 'noise\.img: ' 'noise' --collect noise.img
truncate -s 40M plain.img
mkfs.fat -F 32 plain.img >/dev/null
refused 'plain\.img: no results can be read .*not found' 'another stick' --collect plain.img
truncate -s 40M linux.img
echo 'label: gpt
size=8M, type=linux
size=8M, type=linux' | sfdisk -q linux.img
refused 'no EFI system partition' 'another disk' --collect linux.img
echo x >afile
refused 'afile: ' 'a file for a directory' --collect usb.img -o afile
new_image
begin 20000
describe
put 001
rm -rf small
mkdir small
(ulimit -f 100 && trap '' XFSZ && exec "$HR" usb --collect usb.img -o small) >out 2>err
is 'a full disk: status' "$?" 125
like 'a full disk: said' err 'hr\.bin: File too large'
is 'a full disk: nothing half is left' "$(ls -A small)" ''
done_testing
