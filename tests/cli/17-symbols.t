#!/bin/sh
# Names of functions: C++ and Rust, libraries, debug files, servers, files that changed or vanished.
. "$(dirname "$0")/../lib.sh"
unset DEBUGINFOD_URLS

# A library with one function that takes the time, and two whose names are Rust's.
cat >demo.cc <<'END'
namespace demo {
__attribute__((noinline)) int hot(int n) {
    volatile int x = n;
    for (int i = 0; i < 20000; i++)
        x = x * 3 + FACTOR;
    return x;
}
}
extern "C" __attribute__((noinline)) int evil(int n) {
    volatile int x = n;
    for (int i = 0; i < 4000; i++)
        x = x * 3 + 1;
    return x;
}
extern "C" __attribute__((noinline)) int rust_legacy(int n) __asm__("_ZN4demo4spin17h0123456789abcdefE");
int rust_legacy(int n) {
    volatile int x = n;
    for (int i = 0; i < 4000; i++)
        x = x * 5 + 1;
    return x;
}
extern "C" __attribute__((noinline)) int rust_v0(int n) __asm__("_RNvNtC4demo3sub4spin");
int rust_v0(int n) {
    volatile int x = n;
    for (int i = 0; i < 4000; i++)
        x = x * 7 + 1;
    return x;
}
extern "C" __attribute__((visibility("default"))) int run(int n) {
    return demo::hot(n) + evil(n) + rust_legacy(n) + rust_v0(n);
}
END
echo 'extern "C" int run(int); int main(int argc, char **) { return run(argc) == 7; }' >main.cc

# library FACTOR: builds libdemo.so; one name is meant to steer a terminal.
library() {
    g++ -O2 -g -fPIC -fvisibility=hidden -DFACTOR="$1" -c -o demo.o demo.cc &&
        objcopy --redefine-sym evil="$(printf 'evil\033[31m<b>"x",')" demo.o &&
        g++ -shared -o libdemo.so demo.o
}
ok 'a library' library 1
ok 'a program' g++ -O2 -g -o prog main.cc -L. -ldemo "-Wl,-rpath,$work"
run_guest -q -g -i 1us ./prog
is 'run: status' "$status" 0
mv hr.bin demo.bin
cp libdemo.so whole.so

run_hr report -n 0 demo.bin
is 'report: status' "$status" 0
like 'C++' out ' demo::hot\(int\) +libdemo\.so$'
like 'Rust, legacy' out ' demo::spin +libdemo\.so$'
like 'Rust, v0' out ' demo::sub::spin +libdemo\.so$'
like 'a name cannot steer the terminal' out ' evil\\x1b\[31m<b>"x", +libdemo\.so$'
is 'nothing to complain' "$(cat err)" ''
# a function is found by the name that people call it
for name in hot demo::hot 'demo::hot(int)' hot@libdemo.so; do
    run_hr annotate "$name" demo.bin
    like "annotate $name" out '^# demo::hot\(int\) in libdemo\.so'
    run_hr report --callers "$name" demo.bin
    like "report --callers $name" out '^ *100\.00% .* demo::hot\(int\)$'
    run_hr diff --function "$name" --fail-above 99% demo.bin demo.bin
    is "diff --function $name" "$status.$(cat err)" 0.
done
for command in 'annotate spin' 'report --callers spin' 'diff --function spin demo.bin'; do
    # shellcheck disable=SC2086
    run_hr $command demo.bin
    is "$command: two have that name" "$status" "$(case $command in report*) echo 1 ;; *) echo 2 ;; esac)"
    like "$command: both are listed" err 'spin: 2 functions have that name: demo::(sub::)?spin.*, demo::(sub::)?spin'
done
run_hr report --callers bot demo.bin
like 'the nearest name, by what it is called' err '; the nearest names: demo::hot\(int\)'
run_hr report -n 0 --no-demangle demo.bin
like 'not demangled: C++' out ' _ZN4demo3hotEi +libdemo\.so$'
like 'not demangled: Rust' out ' _ZN4demo4spin17h0123456789abcdefE +libdemo\.so$'
run_hr dump demo.bin
like 'csv' out ',demo::hot\(int\)\+0x[0-9a-f]+,'
like 'csv: quoted' out ',"evil\\x1b\[31m<b>""x"",\+0x[0-9a-f]+",'

# stripped, with the debug file elsewhere
build_id=$(readelf -n libdemo.so | awk '/Build ID/ { print $3 }')
first=$(echo "$build_id" | cut -c 1-2)
rest=$(echo "$build_id" | cut -c 3-)
mkdir -p "debug/.build-id/$first"
objcopy --only-keep-debug libdemo.so "debug/.build-id/$first/$rest.debug"
strip libdemo.so
run_hr report -n 0 demo.bin
is 'stripped: status' "$status" 0
is 'stripped: no name' "$(grep -c 'demo::' out)" 0
is 'stripped: one note, with the remedy' "$(grep -c . err).$(grep -c 'libdemo.so: .*DEBUGINFOD_URLS' err)" 1.1
run_hr report -n 0 --debug-dir /nonexistent --debug-dir debug demo.bin
like '--debug-dir' out ' demo::hot\(int\) +libdemo\.so$'
is '--debug-dir: nothing to complain' "$(cat err)" ''
set --
for n in $(seq 17); do set -- "$@" --debug-dir "$n"; done
run_hr report "$@" demo.bin
is 'too many folders: status' "$status" 2
like 'too many folders: said' err 'more than 16'

# the debug file of another build, where the link says
cp libdemo.so stripped.so
library 5
objcopy --only-keep-debug libdemo.so libdemo.debug
cp stripped.so libdemo.so
objcopy --add-gnu-debuglink=libdemo.debug libdemo.so
run_hr report -n 0 demo.bin
is 'debug file of another build: no name from it' "$(grep -c 'demo::' out)" 0
like 'debug file of another build: said' err 'libdemo\.debug is the debug file of another build'
rm libdemo.debug

# a server: debuginfod's client takes folders, too
mkdir -p "server/buildid/$build_id"
cp "debug/.build-id/$first/$rest.debug" "server/buildid/$build_id/debuginfo"
export DEBUGINFOD_CACHE_PATH="$work/cache"
if ldconfig -p | grep -q 'libdebuginfod\.so\.1'; then
    export DEBUGINFOD_URLS="file://$work/server"
    run_hr report -n 0 demo.bin
    like 'debuginfod' out ' demo::hot\(int\) +libdemo\.so$'
    is 'debuginfod: quiet where there is no terminal' "$(cat err)" ''
    ok 'debuginfod: kept' ls "cache/$build_id/debuginfo"
    DEBUGINFOD_URLS=file://$work/server
    run_hr report -n 0 --no-debuginfod demo.bin
    is 'no debuginfod: not even what is kept' "$(grep -c 'demo::' out)" 0
    rm -rf cache "server/buildid/$build_id/debuginfo"
    DEBUGINFOD_URLS=http://127.0.0.1:1/
    run_hr report -n 0 demo.bin
    is 'no server: status' "$status" 0
    like 'no server: said' err 'debuginfod has no debug file of it'
    rm -rf cache
    cp whole.so "server/buildid/$build_id/executable"
    rm libdemo.so
    DEBUGINFOD_URLS=file://$work/server
    run_hr report -n 0 demo.bin
    like 'debuginfod: the library itself' out ' demo::hot\(int\) +libdemo\.so$'
else
    skip 7 'libdebuginfod1 is not installed'
fi
unset DEBUGINFOD_URLS

# changed, vanished, and no copy was kept
rm -rf cache
library 9
run_hr report -n 0 demo.bin
is 'changed: status' "$status" 0
is 'changed: no names' "$(grep -c 'demo::' out)" 0
like 'changed: said' err 'libdemo\.so: its build-id is not the recorded library.s.*--debug-dir'
cp whole.so "debug/.build-id/$first/$rest"
run_hr report -n 0 --debug-dir debug demo.bin
like 'changed: the old one by its build-id' out ' demo::hot\(int\) +libdemo\.so$'
rm libdemo.so
run_hr report -n 0 demo.bin
like 'vanished: said' err 'libdemo\.so: not found: .*--debug-dir'
mv prog moved
cp whole.so libdemo.so
run_hr report -n 0 demo.bin
like 'a program that vanished and was hardly seen is one line at most' out 'demo::hot'
is 'vanished: at most one line' "$(grep -c . err | awk '{ print $1 <= 1 }')" 1
run_hr report -n 0 --program moved demo.bin
is '--program: nothing to complain' "$(cat err)" ''
# Built anew in place, with other functions at the same addresses: what ran was kept.
cat >where.c <<'END'
volatile unsigned long sink;
__attribute__((noinline)) void OF_LIBRARY(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i; }
END
cat >place.c <<'END'
volatile unsigned long own;
void OF_LIBRARY(unsigned long n);
__attribute__((noinline)) void OF_PROGRAM(unsigned long n) { for (unsigned long i = 0; i < n; i++) own += i; }
int main(void) { OF_PROGRAM(20000); OF_LIBRARY(20000); return 0; }
END
# build PROGRAM LIBRARY: the names of the functions.
build() {
    rm -f libwhere.so place
    gcc -g -O1 -fPIC -shared -DOF_LIBRARY="$2" -o libwhere.so where.c &&
        gcc -g -O1 -DOF_PROGRAM="$1" -DOF_LIBRARY="$2" -o place place.c -L. -lwhere "-Wl,-rpath,$work"
}
unset DEBUGINFOD_CACHE_PATH
ok 'in place: built' build own_before library_before
run_guest -q -i 1us -o before.bin ./place
is 'in place: before' "$status" 0
run_hr report before.bin
cp out wanted
like 'in place: report: the program' wanted ' own_before +place$'
like 'in place: report: the library' wanted ' library_before +libwhere\.so$'
run_hr annotate own_before before.bin
cp out wanted.annotate
like 'in place: annotate' wanted.annotate ' jne? '
ok 'in place: the files are kept' ls "cache/microtome/object-$(readelf -n place | awk '/Build ID/ { print $3 }')" \
    "cache/microtome/object-$(readelf -n libwhere.so | awk '/Build ID/ { print $3 }')"
fails 'in place: files of the system are not' \
    ls "cache/microtome/object-$(readelf -n "$(ldd ./place | awk '/libc\.so/ { print $3 }')" | awk '/Build ID/ { print $3 }')"
ok 'in place: built anew' build own_after library_after
run_guest -q -i 1us -o after.bin ./place
is 'in place: after' "$status" 0
run_hr diff --limit 0 before.bin after.bin
is 'in place: diff: status' "$status.$(cat err)" '0.'
for name in own_before library_before own_after library_after; do
    like "in place: diff: $name" out " $name "
done
run_hr report before.bin
is 'in place: report: nothing to complain' "$status.$(cat err)" '0.'
same_file 'in place: report: as before' out wanted
run_hr annotate own_before before.bin
same_file 'in place: annotate: code as before' out wanted.annotate
run_hr export folded -o folded before.bin
like 'in place: export' folded '^(.*;)?own_before [0-9]+$'
run_hr view -o page.html before.bin
is 'in place: view' "$status.$(cat err)" '0.'
rm place libwhere.so
run_hr report before.bin
is 'gone: nothing to complain' "$status.$(cat err)" '0.'
same_file 'gone: as before' out wanted
run_hr report after.bin
like 'gone: both' out ' own_after '
rm -rf cache
run_hr report before.bin
is 'cleared: no names' "$(grep -c own_before out)" 0
like 'cleared: said' err 'place: not found: showing addresses; name the program with --program'

# A cache that cannot be written is no matter.
build own_again library_again
XDG_CACHE_HOME=/proc/none run_guest -q -i 1us -o none.bin ./place
is 'no cache: the run does not notice' "$status.$(cat err)" '0.'
ok 'no cache: nothing is kept' test ! -e cache

# A library without names is named where it matters: with at least one sample in a hundred.
cat >small.c <<'END'
static unsigned sum;
__attribute__((noipa)) static void hidden(unsigned n) { for (unsigned i = 0; i < n; i++) sum += i; }
void small(unsigned n) { hidden(n); }
END
cat >large.c <<'END'
#include <stdlib.h>
void small(unsigned n);
int main(int argc, char **argv)
{
    small(argc > 1 ? atoi(argv[1]) : 0);
    for (volatile unsigned i = 0; i < 200000; i++)
        ;
    return 0;
}
END
gcc -O1 -fPIC -shared -s -Wl,--build-id -o libsmall.so small.c && gcc -O1 -g -o large large.c -L. -lsmall -Wl,-rpath,"$PWD" || exit 1
run_guest -q -i 1us -o large.bin ./large 1000
run_hr report large.bin
is 'few samples in a library: nothing is said' "$status.$(grep -c libsmall err)" 0.0
run_guest -q -i 1us -o large.bin ./large 100000
run_hr report large.bin
is 'many of them: one line' "$status.$(grep -c libsmall err)" 0.1
like 'many of them: which package' err 'libsmall\.so: .* -dbgsym'
done_testing
