#!/bin/sh
# Programs use files of the host that nobody packed: they read, list, map and change them, on one CPU and on several.
. "$(dirname "$0")/../lib.sh"

mkdir -p tree/sub tree/empty
seq 1 30000 >tree/numbers
seq 30000 -1 1 >tree/sub/reversed
ln -s sub/reversed tree/link
printf 'tree/numbers\0tree/link\0' >names
head -c 100000000 /dev/zero | tr '\0' '\n' >tree/large
printf 'tree/large\0' >large

wanted=$(sort -n tree/numbers tree/sub/reversed | cksum)
run_hr run -q -o first.bin sort -n --files0-from=names
is 'files named in a file: status' "$status" 0
is 'files named in a file: what they hold' "$(cksum <out)" "$wanted"
run_hr run -q -o second.bin sort -n --files0-from=names
for what in .samples .duration_ns '.events[0].total' .page_faults; do
    is "a second run is the same: $what" "$(stat_of second.bin "$what")" "$(stat_of first.bin "$what")"
done
for cpus in 1 2; do
    run_hr run -q --cpus $cpus sort -n --parallel=2 --files0-from=names
    is "--cpus $cpus: what they hold" "$(cksum <out)" "$wanted"
    ok "--cpus $cpus: the trace is right" "$HR" check hr.bin
    "$HR" dump --format records hr.bin >dump
    like "--cpus $cpus: the time for it is a gap" dump 'gap .*reason=6'
done

# More than fits into memory: pages of files that can be fetched again make room.
run_hr run -q --mem 64M wc -l --files0-from=large
is 'a file larger than memory: status' "$status" 0
is 'a file larger than memory' "$(cat out)" '100000000 tree/large'

cat >change.py <<'END'
import mmap, os
def names(directory):
    return sorted(os.listdir(directory))
print(names("tree"))
with open("tree/sub/reversed", "r+b") as f:
    shown = mmap.mmap(f.fileno(), 0)
    f.seek(100000)
    f.write(b"changed")
    print(shown[99998:100009], shown[:6])
os.rename("tree/sub", "tree/moved")
print(names("tree/moved"), os.path.exists("tree/sub"), os.path.exists("tree/link"))
os.unlink("tree/numbers")
print(os.path.exists("tree/numbers"), names("tree"))
open("tree/numbers", "w").write("new")
print(open("tree/numbers").read())
os.rmdir("tree/empty")
os.mkdir("tree/empty")
print(names("tree/empty"), names("tree"))
try:
    os.rmdir("tree/moved")
except OSError as error:
    print(error.strerror)
END
cp -a tree native
sed 's/"tree/"native/g' change.py >native.py
python3 native.py >native.out
sum=$(cksum tree/sub/reversed)
run_hr run -q --keep-files kept python3 change.py
is 'changes: status' "$status" 0
is 'changes are those of Linux' "$(cat out)" "$(cat native.out)"
is "changes stay in the guest" "$(cksum tree/sub/reversed)" "$sum"
is 'a changed file is kept as a whole' "$(cksum <"kept$PWD/tree/moved/reversed")" "$(cksum <native/moved/reversed)"
ok 'a new file in the place of a removed one is kept' grep -qx new "kept$PWD/tree/numbers"

# Libraries that a program finds at run time.
if command -v dot >/dev/null; then
    echo 'digraph { a -> b }' >graph
    dot -Tsvg graph >native.svg
    run_hr run -q dot -Tsvg graph
    ok 'dot finds its plug-ins' cmp out native.svg
else
    skip 1 'graphviz is not installed'
fi
done_testing
