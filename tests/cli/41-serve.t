#!/bin/sh
# The host's files, when the program looks for them: what is served, what is not, and what the trace says of it.
. "$(dirname "$0")/../lib.sh"

hello=$WORKLOADS/hello
mkdir -p tree/sub
echo one >tree/one
echo two >tree/sub/two
ln -s ../one tree/sub/link
printf 'tree/one tree/sub/two tree/sub/link' >list
mkfifo tree/fifo

# The names come on its standard input, because those of arguments would be packed.
cat >names.pl <<'END'
for (split ' ', join '', <STDIN>) {
    print open(FILE, '<', $_) ? <FILE> : "$_ $!\n";
}
END

run_hr run -q perl names.pl <list
is 'files: status' "$status" 0
is 'files: contents' "$(cat out)" "$(printf 'one\ntwo\none')"
run_hr stat --files --json
is 'stat --files: their names' "$(jq -r '.files[].path | select(startswith("'"$PWD"'"))' out)" \
    "$(printf '%s\n' "$PWD/tree/one" "$PWD/tree/sub/two")"
is 'stat --files: size' "$(jq -r '.files[] | select(.path | endswith("/tree/one")).bytes' out)" 4
is 'stat --files: FNV-1a' "$(jq -r '.files[] | select(.path | endswith("/tree/one")).hash' out)" "$(python3 -c '
h = 0xcbf29ce484222325
for b in b"one\n": h = (h ^ b) * 0x100000001b3 & (1 << 64) - 1
print("%016x" % h)')"
run_hr stat --files
like 'stat --files: a table' out '^ +4 +20.* [0-9a-f]{16} +/.*/tree/one$'
run_hr stat --files --machine
is 'stat --files --machine: refused' "$status" 2
run_hr check
is 'hr check' "$status" 0

mv hr.bin before.bin
echo TWO >tree/sub/two
rm tree/one
echo 'tree/sub/two' | run_hr run -q -o after.bin perl names.pl
run_hr diff before.bin after.bin
like 'hr diff: another file' out "^# the file $PWD/tree/sub/two is not the same$"
like 'hr diff: a file of one run' out "^# only before read the file $PWD/tree/one$"

echo "tree/none tree/fifo tree/sub/two/x /dev/kmsg /proc/kcore /sys/power/state" | run_hr run -q perl names.pl
is 'what is not served' "$(cut -d' ' -f2- out | sort | uniq -c | tr -s ' ')" "$(printf ' 5 No such file or directory\n 1 Not a directory')"

echo tree/sub/two | run_hr run -q --sealed perl names.pl
is '--sealed: nothing else' "$(cat out)" 'tree/sub/two No such file or directory'
run_hr stat --files
like '--sealed: no files' out '^The program read no files of the host'
run_hr run --dry-run --sealed perl names.pl
is '--sealed: no port' "$(grep -c microtome.serve out)" 0
run_hr run --dry-run perl names.pl
is 'otherwise there is one' "$(grep -c microtome.serve out)" 1
is 'hr pack knows no --sealed' "$("$HR" pack --help | grep -c sealed)" 0

# A tree in the place of /: a static program, and one with its libraries, through links.
mkdir -p root/usr/bin root/etc
ln -s usr/bin root/bin
cp "$hello" root/usr/bin/hello
run_hr run -q --root root hello
is '--root: a program by name' "$status" 0
run_hr run -q --root root /bin/hello
is '--root: a program by path, through a link' "$status" 0
run_hr run -q --root root "$hello"
is '--root: not a program of the host' "$status" 127
run_hr run -q --root root no-such-program
is '--root: no such program' "$status" 127
run_hr run -q --root none hello
is '--root: no such tree' "$status" 125
like '--root: which' err '^hr: --root none: not a directory$'
for file in /bin/cat $(ldd /bin/cat | grep -o '/[^ ]*'); do
    mkdir -p "root$(dirname "$file")"
    cp -L "$file" "root$file"
done
echo rooted >root/etc/hostname
ln -s /etc/hostname root/etc/link
run_hr run -q --root root cat /etc/hostname /etc/link
is '--root: libraries and files of the tree' "$(cat out)" "$(printf 'rooted\nrooted')"
run_hr stat --files --json
is '--root: names are those of the guest' "$(jq -r '.files[].path' out | grep -c '^/etc/hostname$')" 1
done_testing
