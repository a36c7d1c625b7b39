#!/bin/sh
# --probe: which functions and places it names, what is refused and why, and what is written for the kernel.
. "$(dirname "$0")/../lib.sh"

# list OPTION... PROGRAM: the points, from a run that only would be.
list() {
    run_hr run --accel tcg --dry-run "$@" </dev/null
    grep -v -- '-icount' out >points || true
}

# refused NAME REGEX ARGUMENT...: hr run says why it does not run.
refused() {
    label=$1 regex=$2
    shift 2
    list "$@"
    is "$label: status" "$status" 125
    like "$label: why" err "^hr: $regex"
    is "$label: one line" "$(grep -c . err)" 1
}

cat >prog.c <<'END'
#include <stdlib.h>
int data = 3;
static inline __attribute__((always_inline)) int gone(int n) {
    return n * 3;
}
__attribute__((noinline)) int work(int n) {
    if (n > 100)
        abort();
    return gone(n) + data;
}
__attribute__((noinline)) int tail(int n) {
    return work(n + 1);
}
__asm__(".globl odd\n.type odd,@function\nodd: nop; .byte 6\n.size odd,.-odd\n"
        ".globl far\n.type far,@function\nfar: lret\n.size far,.-far\n");
int main(int argc, char **argv) {
    return tail(argc) + atoi(argv[0]);
}
END
ok 'a program' gcc -O2 -g -fcf-protection=none -o prog prog.c

list --probe work ./prog
is 'a function: status' "$status" 0
is 'a function: one entry' "$(grep -c ' work: entry, ' points)" 1
is 'a function: its returns' "$(grep -c ' work: return, return' points)" "$(objdump -d --disassemble=work prog | grep -cw ret)"
like 'a function: where' points "^probes in $(readlink -f prog): 1 function or place, [0-9]+ points$"
list --probe tail ./prog
like 'a jump to another function returns' points ' tail: return, jump$'
list --probe '*ork' --probe tail+0x0 --probe prog.c:4 ./prog
like 'a glob' points ' work: entry'
like 'an instruction' points ' tail\+0x0: place'
like 'a line' points ' prog\.c:4: place'
list --probe "0x$(nm prog | sed -n 's/ T work$//p')" ./prog
like 'an address' points ' 0x[0-9a-f]+: place'
list --probe @all ./prog
like '@all' points ' main: entry'
like '@all leaves out what cannot be decoded' err 'probes: 2 functions are left out, such as (odd|far): '
printf '# two of them\n\nwork # the first\n  tail\n' >specs
list --probes specs ./prog
is '--probes' "$(grep -c ' entry, ' points)" 2
list --probe atoi ./prog
like 'a function of a library' points "^probes in $(readlink -f "$(ldd prog | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')"): 1 "
list --probe libc:atoi --probe libc.so.6:abs --probe 'libc*:labs' ./prog
is 'libraries by name' "$(grep -c ' entry, ' points)" 3
list --probe prog:work ./prog
like 'a function of the program by its name' points ' work: entry'

cp prog other
list --probe ./other:work ./prog
like 'another program by its path' points "^probes in $work/other: "
mkdir bin
mv other bin
PATH=$work/bin:$PATH
list --probe other:work sh -c other
like 'another program of PATH' points "^probes in $work/bin/other: "
refused 'an object that is not there' "--probe: 'nolib' is neither the program nor a library" --probe nolib:f ./prog
refused 'a path that is not there' '--probe: ./nofile: No such file' --probe ./nofile:f ./prog
refused 'not an ELF file' "--probe ./prog.c:f: cannot read $work/prog.c: not an ELF file" --probe ./prog.c:f ./prog
refused 'the vDSO' '--probe linux-vdso\.so\.1:\*: the vDSO belongs to the kernel' --probe 'linux-vdso.so.1:*' ./prog

refused 'an unknown name' '--probe wrok: no such function in .*/prog and its libraries; the nearest names are work' --probe wrok ./prog
refused 'an unknown name of one object' '--probe prog:wrok: no such function in .*/prog; the nearest' --probe prog:wrok ./prog
refused 'data' '--probe data: it is data of .*/prog, not a function' --probe data ./prog
refused 'an inlined function' '--probe gone: gone was inlined into all of its callers' --probe gone ./prog
refused 'a choice' '--probe strlen: libc\.so\.6 chooses one of several implementations' --probe strlen ./prog
refused 'data in the code' '--probe odd: the bytes at \+0x1 are no instruction' --probe odd ./prog
refused 'a far return' "--probe far: the instruction 'l?retf?q?l?' at \\+0x0 cannot have a probe: it returns to another" --probe far ./prog
refused 'a part of a function' '--probe work\.cold: it is a part of another function' --probe work.cold ./prog
refused 'in an instruction' '--probe tail\+0x1: in tail, \+0x1 is in the middle of an instruction: one begins at \+0x0 and' --probe tail+0x1 ./prog
refused 'after a function' '--probe tail\+0x999: tail has 0x[0-9a-f]+ bytes' --probe tail+0x999 ./prog
refused 'a line without code' '--probe prog\.c:2: no instruction begins this line; the nearest lines with code are 3' --probe prog.c:2 ./prog
refused 'an unknown source file' '--probe nofile\.c:2: no debug information knows' --probe nofile.c:2 ./prog
refused 'no code' '--probe 0x1: there is no code at this address' --probe 0x1 ./prog
refused 'nothing' '--probe : the function is missing' --probe '' ./prog
refused 'twice in one instruction' '--probe work and --probe work\+0: both need a probe' --probe work --probe work+0 ./prog
refused 'no file of specifications' '--probes nofile: No such file' --probes nofile ./prog
strip -o stripped prog
refused 'no symbols' '--probe work: not found, and .*/stripped has no symbols' --probe work ./stripped
list --probe "0x$(nm prog | sed -n 's/ T work$//p')" ./stripped
is 'no symbols: an address' "$(grep -c ': place' points)" 1

# Without symbols, the parts of a function are found by its call frame information.
cat >parts.c <<'END'
void refuse(int) __attribute__((cold));
int use(int *);
int split(int n) {
    int x[4] = {n, n, n, n};
    if (__builtin_expect(n == 7, 0)) {
        refuse(n);
        return use(x) + 1;
    }
    return use(x);
}
END
ok 'a library with a part' gcc -O2 -shared -fPIC -o libparts.so parts.c
ok 'the part is there' sh -c 'nm libparts.so | grep -q split.cold'
strip -o libstripped.so libparts.so
list --probe ./libparts.so:split ./prog
sed -n 's/ split: / /p' points >whole
list --probe ./libstripped.so:split ./prog
sed -n 's/ split: / /p' points >bare
same_file 'parts without symbols' whole bare
fails 'a jump into the part is no return' grep -q 'return, jump if' whole

refused '--probe-args' '--probe-args 7: not a number from 0 to 6' --probe work --probe-args 7 ./prog
refused '--probe-args: with many events' '--probe-args 6: with 8 events these are more than the 13 values' --probe work \
    --probe-args 6 -e instructions,cycles,branches,branch-misses,cache-misses,cache-references,ref-cycles,L1-dcache-loads ./prog
refused '--probe-args: alone' '--probe-args: there is no probe' --probe-args 1 ./prog
refused '--probe-every' '--probe-every 0: not a number from 1' --probe work --probe-every 0 ./prog
refused '--probe-every: alone' '--probe-every: there is no probe' --probe-every 5 ./prog
refused '--probe-every: arguments' '--probe-every: its samples .*--probe-args' --probe work --probe-every 5 --probe-args 1 ./prog
refused '--probe-every: no samples' '--probe-every: --mode off takes no samples' --probe work --probe-every 5 --mode off ./prog
refused '--probe-stack: alone' '--probe-stack: there is no probe' --probe-stack ./prog
refused '--mode exact' '--probe: --mode exact counts every instruction' --probe work --mode exact ./prog

# What the kernel gets.
unpack() {
    run_hr pack --accel tcg -o run.cpio "$@" </dev/null
    rm -rf x
    mkdir x
    (cd x && cpio -id --quiet <../run.cpio 2>/dev/null)
}
unpack --probe work --probe-args 3 --probe-stack ./prog
is 'hr pack: status' "$status" 0
is 'hr pack: the table' "$(head -c 8 x/microtome/probes)" uhrprob1
is 'hr pack: arguments' "$(od -An -tu4 -j24 -N8 x/microtome/probes | tr -s ' ')" ' 3 0'
ok 'hr pack: the path' grep -qa "$work/prog" x/microtome/probes
is 'hr pack: --probe-stack' "$(tr '\0' '\n' <x/microtome/manifest | grep -cE '^(probe-stack=1|stacks=fp)$')" 2
unpack ./prog
fails 'hr pack: no probes, no table' test -e x/microtome/probes
run_hr pack --accel tcg -o run.cpio --probe ./bin/other:work ./prog
is 'hr pack: what is not packed: status' "$status" 125
like 'hr pack: what is not packed' err "--probe: ./bin/other is not packed; add it with --file $work/bin/other"
run_hr pack --accel tcg -o run.cpio --probe ./bin/other:work --file bin/other ./prog
is 'hr pack: with --file' "$status" 0

# A tree in the place of /: paths are those below it.
mkdir -p tree/bin tree/lib64 tree/lib/x86_64-linux-gnu
cp prog tree/bin
cp /lib64/ld-linux-x86-64.so.2 tree/lib64
cp "$(ldd prog | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')" tree/lib/x86_64-linux-gnu/libc.so.6
list --root tree --probe work --probe atoi /bin/prog
like '--root: the program' points '^probes in /bin/prog: '
like '--root: its library' points '^probes in /lib/x86_64-linux-gnu/libc\.so\.6: '

# What its linker loads first: by a name, a path, and one that is not there.
echo 'int early(int n) { return n - 1; }' >first.c
sed 's/early/late/' first.c >second.c
gcc -shared -fPIC -o tree/lib/libfirst.so first.c
gcc -shared -fPIC -o tree/lib/libsecond.so second.c
list --root tree --env "LD_PRELOAD=libfirst.so	/lib/none.so:/lib/libsecond.so" --probe early --probe late /bin/prog
is '--root: what is preloaded' "$(sed -n 's/^probes in \([^:]*\):.*/\1/p' points | tr '\n' ' ')" \
    '/lib/libfirst.so /lib/libsecond.so '

done_testing
