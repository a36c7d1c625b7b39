#!/bin/sh
# What goes into a run's archive: libraries, scripts' interpreters, arguments, known programs; and what is refused.
. "$(dirname "$0")/../lib.sh"

# pack ARG...: hr pack -v; its files are unpacked into the directory x.
pack() {
    run_hr pack -v --accel tcg -o run.cpio "$@" </dev/null
    rm -rf x
    mkdir x
    (cd x && cpio -id --quiet <../run.cpio 2>/dev/null)
}

# manifest KEY: its values, one a line.
manifest() {
    tr '\0' '\n' <x/microtome/manifest | sed -n "s/^$1=//p"
}

cc=gcc
printf 'int f(void) { return 0; }\n' >f.c
printf 'int f(void); int main(void) { return f(); }\n' >main.c
mkdir lib other
$cc -shared -fPIC -o lib/libf.so f.c
# shellcheck disable=SC2016
$cc -o main main.c -Llib -lf '-Wl,-rpath,$ORIGIN/lib'
pack ./main
is 'a dynamic program: status' "$status" 0
same_file 'a dynamic program: the program' "x$work/main" main
same_file 'a dynamic program: its library' "x$work/lib/libf.so" lib/libf.so
interpreter=/lib64/ld-linux-x86-64.so.2
same_file 'a dynamic program: the interpreter' "x$(readlink -f $interpreter)" $interpreter
is 'a dynamic program: a link on the way to it is a link' "$(readlink x/lib64)" "$(readlink /lib64)"
like 'a dynamic program: -v says why' err "packed $work/lib/libf.so .*needed by main"
like 'a dynamic program: the C library' err 'libc\.so\.6 .*needed by'
like 'a dynamic program: what the C library loads' err 'libgcc_s'
ok 'a dynamic program: names' cmp x/etc/nsswitch.conf /etc/nsswitch.conf
for name in passwd group; do
    tail -n +2 x/etc/$name >rest
    same_file "a dynamic program: $name ends as the host's" rest /etc/$name
done
is 'a dynamic program: first there is its own user' "$(head -n 1 x/etc/passwd)" 'user:x:1000:1000::/root:/bin/sh'
is 'a dynamic program: and its group' "$(head -n 1 x/etc/group)" 'user:x:1000:'
pack --env HOME=/else/where ./main
is 'the user has the home that HOME says' "$(head -n 1 x/etc/passwd)" 'user:x:1000:1000::/else/where:/bin/sh'
pack --file /etc/passwd ./main
same_file 'a passwd that was asked for is left as it is' x/etc/passwd /etc/passwd
pack ./main
mv lib/libf.so other
run_hr pack --accel tcg ./main
is 'a missing library: status' "$status" 127
like 'a missing library: as ld.so says it' err 'error while loading shared libraries: libf.so: cannot open'
is 'a missing library: one line' "$(grep -c . err)" 1
pack --env LD_LIBRARY_PATH="$work/other" ./main
is 'LD_LIBRARY_PATH: status' "$status" 0
like 'LD_LIBRARY_PATH: found there' err "$work/other/libf.so"
$cc -o strange main.c f.c -Wl,--dynamic-linker,/no/such/ld.so
run_hr pack --accel tcg ./strange
is 'no interpreter: status' "$status" 127
like 'no interpreter: message' err '/no/such/ld.so'
if command -v musl-gcc >/dev/null; then
    musl-gcc -o musl main.c f.c
    pack ./musl
    is 'musl: status' "$status" 0
    ok 'musl: its linker, under its name' test -L x/lib/ld-musl-x86_64.so.1 -o -e x/usr/lib/ld-musl-x86_64.so.1 -o -e x/lib/ld-musl-x86_64.so.1
    is 'musl: nothing of the other library' "$(find x -name 'libc.so.6')" ''
else
    skip 3 'no musl-gcc'
fi

# Contents of a page and more lie on page boundaries, and any cpio reads the archive.
is 'alignment: every large file' "$(perl -e '
    local $/; open F, "run.cpio"; $a = <F>; $o = 0; $bad = $n = 0;
    for (;;) { @h = map hex, unpack("x6 A8 A8 A8 A8 A8 A8 A8 A8 A8 A8 A8 A8", substr $a, $o);
        $name = unpack "Z*", substr $a, $o + 110, $h[11]; last if $name eq "TRAILER!!!";
        $d = $o + 110 + $h[11]; $d += -$d % 4; $size = $h[6];
        if ($size >= 4096) { $n++; $bad++ if $d % 4096 } $o = $d + $size; $o += -$o % 4 }
    print $n > 0 ? $bad : "none"')" 0
is 'alignment: names are as they were' "$(cpio -t --quiet <run.cpio | head -n 1)" microtome/manifest

# Scripts: Linux's rules for arguments.
cat >args.c <<'END'
#include <stdio.h>
int main(int argc, char **argv) { while (argc-- > 0) puts(*argv++); return 0; }
END
$cc -static -o args args.c
printf '#! %s/args  one and two \n' "$work" >script
chmod +x script
pack ./script x 'y z'
is 'a script: arguments' "$(manifest arg | tr '\n' '|')" "$work/args|one and two|./script|x|y z|"
is 'a script: the program is its interpreter' "$(manifest program-path)" "$work/args"
same_file 'a script: it is packed' "x$work/script" script
printf '#!%s/script -n\n' "$work" >nested
chmod +x nested
PATH=$PATH:$work pack nested x
is 'a script for a script, from PATH' "$(manifest arg | tr '\n' '|')" \
    "$work/args|one and two|$work/script|-n|$work/nested|x|"
printf '#!/usr/bin/env args\n' >./env
chmod +x env
PATH=$PATH:$work pack ./env x
is 'env NAME' "$(manifest arg | tr '\n' '|')" 'args|./env|x|'
like 'env NAME: its directory is in PATH' x/microtome/manifest "PATH=$work:"
printf '#!/usr/bin/env -S A=b C=d %s/args -u\n' "$work" >./env
pack ./env x
is 'env -S: arguments' "$(manifest arg | tr '\n' '|')" "$work/args|-u|./env|x|"
is 'env -S: settings' "$(manifest env | grep -cE '^(A=b|C=d)$')" 2
printf '#!/usr/bin/env -i sh\n' >./env
run_hr pack --accel tcg ./env
is 'env with options: status' "$status" 126
like 'env with options: message' err 'env'
printf '#!%s/loop\n' "$work" >loop
chmod +x loop
run_hr pack --accel tcg ./loop
is 'a script for itself: status' "$status" 126

# Arguments that name files.
mkdir tree
echo data >tree/file
ln -s file tree/link
echo opt >option
pack ./args tree/link --with=option -option name=tree/file @option no-such new/out </dev/null
is 'arguments: a link and what it leads to' "$(cat "x$work/tree/link")/$(readlink "x$work/tree/link")" data/file
ok 'arguments: --with=FILE' test -e "x$work/option"
pack ./args tree
ok 'arguments: a directory' test -e "x$work/tree/file"
mkdir new
pack ./args new/out /proc/self/status /dev/null
ok 'arguments: the directory of a file to be made' test -d "x$work/new"
ok 'arguments: /proc and /dev are the guest'\''s own' test ! -e x/proc/self
truncate -s 300M tree/huge
pack ./args tree
is 'arguments: too large a directory: status' "$status" 0
like 'arguments: too large a directory: notice' err 'tree is left out: larger than'
ok 'arguments: too large a directory: nothing of it' test ! -e "x$work/tree/file"

# Known programs.
mkdir -p prefix/bin prefix/lib/python3.7/test prefix/lib/python3.7/site-packages
cp args prefix/bin/python3.7
ln -s python3.7 prefix/bin/python3
echo os >prefix/lib/python3.7/os.py
echo no >prefix/lib/python3.7/test/no.py
echo yes >prefix/lib/python3.7/site-packages/yes.py
echo script >script.py
echo helper >helper.py
echo other >other.txt
pack prefix/bin/python3 script.py
ok 'python: the library beside it' test -e "x$work/prefix/lib/python3.7/os.py"
ok 'python: installed packages' test -e "x$work/prefix/lib/python3.7/site-packages/yes.py"
ok 'python: no tests' test ! -e "x$work/prefix/lib/python3.7/test"
ok 'python: modules beside the script' test -e "x$work/helper.py"
ok 'python: nothing else beside the script' test ! -e "x$work/other.txt"
is 'python: the link to it' "$(readlink "x$work/prefix/bin/python3")" python3.7
mkdir -p pyenv/shims pyenv/versions/3.7/bin
printf '#!/bin/sh\nexec pyenv exec "$@"\n' >pyenv/shims/args
cp args pyenv/versions/3.7/bin
chmod +x pyenv/shims/args
PATH=$work/pyenv/shims:$PATH PYENV_VERSION=3.7 pack args
is 'pyenv: its launcher stands for the program' "$(manifest program-path)" "$work/pyenv/versions/3.7/bin/args"
pack --prefault ./args
is '--prefault is in the manifest' "$(manifest prefault)" 1
pack --env LANG=en_US.UTF-8 --env TZ=Europe/Paris ./args
[ ! -e /usr/share/zoneinfo/Europe/Paris ] || ok 'the time zone' test -e x/usr/share/zoneinfo/Europe/Paris

# An archive runs wherever hr is, as its program ran here.
for program in ./args ./main; do
    rm -rf away
    run_hr pack --accel tcg -e instructions --env LD_LIBRARY_PATH=$work/other -o run.cpio $program one two
    run_hr run -q --sealed --accel tcg -e instructions --env LD_LIBRARY_PATH=$work/other -o here.bin $program one two
    here=$(cat out) here_status=$status
    mkdir away
    cp run.cpio away
    cd away || exit
    run_hr run -q --accel tcg run.cpio
    cd ..
    is "$program from its archive: status" "$status" "$here_status"
    is "$program from its archive: output" "$(cat out)" "$here"
    is "$program from its archive: every sample" "$("$HR" dump away/hr.bin | cksum)" "$("$HR" dump here.bin | cksum)"
done
run_hr run -q --accel tcg -e branches,instructions,cycles -o other.bin run.cpio
is 'an archive with other events' "$("$HR" stat --json other.bin | jq -r '[.events[].name] | join(" ")')" 'branches instructions cycles'
is 'which change nothing else' "$("$HR" stat --json other.bin | jq '.events[1].total')" "$("$HR" stat --json here.bin | jq '.events[0].total')"
run_hr run -q -i 5us run.cpio
is 'an option that is in the archive: status' "$status" 125
like 'an option that is in the archive' err '^hr: --interval is a part of the archive run.cpio; give it to hr pack$'
run_hr run -q run.cpio more
like 'an argument that is in the archive' err "^hr: more: the archive run.cpio has the program's arguments; give them to hr pack"
head -c "$(($(stat -c %s run.cpio) - 5000))" run.cpio >cut.cpio
run_hr run -q cut.cpio
is 'an archive that was cut: status' "$status" 125
like 'an archive that was cut' err '^hr: cut.cpio: the archive is damaged: .*make it again with hr pack$'

# --root wins over the host.
mkdir -p root/etc root/usr
echo root >root/etc/passwd
pack --root root ./main --env LD_LIBRARY_PATH="$work/other"
cp other/libf.so lib
pack --root root ./main
is '--root: its files win' "$(cat x/etc/passwd)" root
ok '--root: and the others are there' test -e x/usr/lib
done_testing
