#!/bin/sh
# hr annotate: instructions and lines with their samples, which add up to what hr report says.
. "$(dirname "$0")/../lib.sh"

cat >hot.c <<'END'
#include <stdlib.h>
__attribute__((noipa)) static long same(long n) { while (n > 0) __asm__ volatile("sub $2, %0" : "+r"(n)); return n; }
__attribute__((noipa)) long spin(long n)
{
    long i = 0;
    __asm__ volatile("1: add $1, %0\n cmp %1, %0\n jne 1b" : "+r"(i) : "r"(n));
    return i;
}
long other(long n);
int main(int argc, char **argv) { (void)argv; long sum = argc; for (int i = 0; i < 5000; i++) sum += spin(1001) + same(403) + other(399); return sum == 0; }
END
cat >other.c <<'END'
__attribute__((noipa)) static long same(long n) { while (n > 0) __asm__ volatile("sub $1, %0" : "+r"(n)); return n; }
long other(long n) { return same(n); }
END
gcc -O2 -static -Wl,--build-id -o hot hot.c other.c || exit 1
run_guest -q -i 1us -o hot.bin ./hot
is 'a run with a hot loop: status' "$status" 0

# reported NAME [COLUMN]: what hr report says of a function: samples, or with column 4 the event.
reported() {
    "$HR" report -n 0 hot.bin | awk -v name="$1" -v column="${2:-3}" '$5 == name { gsub(",", "", $column); print $column }'
}

# added: samples of all lines in the file out.
added() {
    awk '/^ *[0-9.]+%/ { gsub(",", "", $2); sum += $2 } END { printf "%d", sum }' out
}

run_hr annotate spin hot.bin
is 'a function: status' "$status" 0
like 'no source: said' err 'hot: no debug information'
like 'its place' out '^# spin in hot, 0x[0-9a-f]+ to 0x[0-9a-f]+$'
like 'what it is of all' out "^# $(reported spin | sed ':a;s/\B[0-9]\{3\}\>/,&/;ta') samples; [0-9.]+% of all samples$"
like 'where the events come from' out '^# instructions: exact, from virtual time$'
is 'samples add up to what the report says' "$(added)" "$(reported spin)"
is 'so do events' "$(awk '/^ *[0-9.]+%/ { gsub(",", "", $3); sum += $3 } END { printf "%d", sum }' out)" \
    "$(reported spin 4)"
is 'the loop takes the samples' "$(awk '/^ *[0-9.]+%/ && $1 + 0 > 30 { print $(NF - 2) }' out | sort | tr '\n' ' ')" \
    "$(awk '/^ *[0-9.]+%/ && /(add|cmp|jne) / { print $(NF - 2) }' out | sort | tr '\n' ' ')"
within 'nearly all of them' "$(awk '/ (add|cmp|jne) / { sum += $1 } END { print sum }' out)" 99.8 100.1
like 'the jump says where it goes' out ' jne +0x[0-9a-f]+  \^ \+0x[0-9a-f]+$'
like 'its target is marked' out ' >  +[0-9a-f]+  add +r[a-z0-9]+, 1$'
is 'no colours in a file' "$(grep -c "$(printf '\033')" out)" 0
run_hr annotate spin hot.bin --att
like 'syntax of AT&T' out ' add[q]? +\$1, %r[a-z0-9]+$'
run_hr annotate -n 2 spin hot.bin
is 'the hottest alone' "$(grep -c '^ ' out)" 2
is 'hottest first' "$(awk '/^ / { print $1 + 0 }' out | sort -rn | tr '\n' ' ')" "$(awk '/^ / { print $1 + 0 }' out | tr '\n' ' ')"
run_hr annotate -e instructions spin hot.bin
like 'weighed by an event' out '% of all instructions$'
run_hr annotate main hot.bin
like 'calls have names' out ' call +0x[0-9a-f]+  <spin>$'

run_hr annotate same hot.bin
is 'a name that two functions have: status' "$status" 2
like 'both are listed' err 'same: 2 functions have that name: same@hot at 0x[0-9a-f]+, same@hot at 0x[0-9a-f]+; choose'
address=$(sed 's/.*same@hot at \(0x[0-9a-f]*\);.*/\1/' err)
rm -rf "$XDG_CACHE_HOME/microtome" # no copy was kept
run_hr annotate "$address" hot.bin
is 'chosen by its address: status' "$status" 0
like 'chosen by its address' out "^# same in hot, $address to "
run_hr annotate spin@hot hot.bin
is 'a function of an object' "$status.$(added)" "0.$(reported spin)"
run_hr annotate spin@libc.so.6 hot.bin
is 'a function of another object' "$status" 2
run_hr annotate spim hot.bin
is 'an unknown name: status' "$status" 2
like 'an unknown name: the nearest' err '^hr: spim: no sample is in a function of that name; the nearest names: spin$'
run_hr annotate 0x10 hot.bin
like 'an address without code' err '^hr: 0x10: no sample is in the code there'
run_hr annotate -e no-such spin hot.bin
like 'an unknown event' err '^hr: --event no-such: the trace has no such event; choose samples, instructions'
run_hr annotate --thread 99999 spin hot.bin
is 'nothing selected: status' "$status" 1
like 'nothing selected: said' err 'no selected sample is in its code'
run_hr annotate
is 'no function: status' "$status" 2
like 'no function: said' err 'name a function'
run_hr annotate spin missing.bin
is 'no trace: status' "$status" 1
run_hr annotate --from 100us --to 199999ns spin hot.bin
is 'a part of the time' "$(added)" \
    "$("$HR" report --from 100us --to 199999ns hot.bin 2>report.err | awk '$5 == "spin" { print $3 }')"
"$HR" annotate spin hot.bin 2>err >/dev/full
is 'a full disk: status' "$?" 1
like 'a full disk: said' err 'No space left'

# on a terminal
on_terminal() {
    TERM=xterm script -qec "stty cols $1; '$HR' annotate $2 hot.bin 2>err" /dev/null </dev/null | tr -d '\r' >out
}
on_terminal 40 spin
is '40 columns hold every line' "$(sed "s/$(printf '\033')\[[0-9;]*m//g" out | awk 'length > 40' | head -n 3)" ''
like 'and the code' out '[0-9.]+% >\+[0-9a-f]+ +add +r'
like 'the hottest lines are coloured' out "^$(printf '\033')\[1;31m +[0-9.]+%.*$(printf '\033')\[0m$"

# names steer no terminal, and a function without a symbol is shown by its address
objcopy --redefine-sym "spin=sp$(printf '\033')[31min<b>" hot hostile || exit 1
run_hr annotate --program hostile "sp$(printf '\033')[31min<b>" hot.bin
is 'a hostile name: status' "$status" 0
like 'a hostile name is escaped' out '^# sp\\x1b\[31min<b> in hot, '
strip -o stripped hot && mv hot hot.symbols
run_hr annotate --program stripped "$address" hot.bin
is 'stripped: status' "$status" 0
like 'stripped: the function' out "^# hot\\+$address in hot, $address to 0x"
like 'stripped: its instructions' out ' jg  +0x'
is 'stripped: the samples are all there' "$(added)" \
    "$("$HR" report --program stripped -n 0 hot.bin 2>err | awk -v at="hot+$address" '$5 == at { gsub(",", "", $3); print $3 }')"
whole=$(added)
run_hr annotate --program stripped "hot+$address" hot.bin
is 'stripped: by the name that the report shows' "$status.$(added)" "0.$whole"
run_hr diff --program stripped --old-program stripped hot.bin hot.bin
is 'stripped: diff' "$status" 0
run_hr export folded -o folded hot.bin --program stripped
like 'stripped: exported' folded "^hot\\+$address [0-9]+$"
objcopy --remove-section .eh_frame stripped bare
run_hr annotate --program bare "$address" hot.bin
like 'without call frame information: the range' out '^# code without a name in hot, 0x[0-9a-f]+000 to 0x[0-9a-f]+000$'
# what .eh_frame says is not believed
for seed in 1 2 3 4 5 6 7 8 9 10; do
    objcopy -O binary --only-section .eh_frame --set-section-flags .eh_frame=alloc stripped frame
    perl -e 'srand $ARGV[0]; local $/; $_ = <STDIN>; substr($_, rand length, 1) = chr rand 256 for 1 .. length($_) / 20; print' \
        $seed <frame >damaged
    objcopy --update-section .eh_frame=damaged stripped torn 2>/dev/null
    run_hr report --program torn hot.bin
    is "damaged call frame information, $seed: status" "$status" 0
done
rm -rf "$XDG_CACHE_HOME/microtome" # no copy was kept
run_hr annotate "$address" hot.bin
is 'the program is gone: status' "$status" 0
like 'the program is gone: said' err 'hot: not found'
like 'the program is gone: addresses' out ' \(its code is not there\)$'
mv hot.symbols hot

# source lines
mkdir src
cat >src/lines.c <<'END'
static inline unsigned long twist(unsigned long x)
{
    return x * 6364136223846793005ul + 1442695040888963407ul;
}

__attribute__((noipa)) unsigned long
churn(unsigned long n)
{
    unsigned long x = n;

    while (n-- != 0)
	x = twist(x) ^ n; /* a tab stands before this */
    return x;
}

int main(void)
{
    return churn(300000) == 1;
}
END
gcc -g -O2 -static -Wl,--build-id -o lines "$PWD/src/lines.c" || exit 1
run_guest -q -i 997ns -o lines.bin ./lines # a prime: no loop is in step with it
run_hr annotate churn lines.bin
is 'source: nothing to complain' "$status.$(cat err)" '0.'
like 'a source line' out '^ {20,}lines\.c:12  +x = twist\(x\) \^ n; /\* a tab stands before this \*/$'
like 'an inlined function' out '^ {20,}lines\.c:3 \(inlined twist\)  +return x \* 6364136223846793005ul'
churned=$(added)
run_hr annotate --source churn lines.bin
is 'by source line: status' "$status" 0
is 'by source line: the same samples' "$(added)" "$churned"
is 'by source line: hottest first' "$(awk '/^ *[0-9.]+%/ { print $1 + 0 }' out | sort -rn | tr '\n' ' ')" \
    "$(awk '/^ *[0-9.]+%/ { print $1 + 0 }' out | tr '\n' ' ')"
ok 'by source line: more than one' test "$(grep -c 'lines\.c:' out)" -gt 2
is 'by source line: each once' "$(grep -o 'lines\.c:[0-9]*' out | sort | uniq -d)" ''
run_hr annotate -s -n 1 churn lines.bin
is 'by source line: the hottest alone' "$(grep -c '^ ' out)" 1
cp out wanted
touch -r lines.bin src/lines.c
run_hr annotate --source -n 1 churn lines.bin
is 'a source as old as the trace: nothing to complain' "$status.$(cat err)" '0.'
touch -d '2099-01-01' src/lines.c
run_hr annotate --source -n 1 churn lines.bin
is 'a source that was changed since: status' "$status" 0
is 'a source that was changed since: one note, with the remedy' \
    "$(grep -c . err).$(grep -c '^hr: .*/src/lines\.c is newer than the trace, .*--source-dir' err)" 1.1
same_file 'a source that was changed since: shown' out wanted
run_hr annotate --source-dir src --source -n 1 churn lines.bin
is 'a source that was chosen: nothing to complain' "$status.$(cat err)" '0.'
mv src moved
run_hr annotate churn lines.bin
is 'without the source: status' "$status" 0
like 'without the source: line numbers' out '^ {20,}lines\.c:12$'
run_hr annotate --source-dir moved churn lines.bin
like 'the source is elsewhere' out '^ {20,}lines\.c:12  +x = twist'
rm moved/lines.c && mkfifo moved/lines.c
run_hr annotate --source-dir moved churn lines.bin
is 'a source that is no file: status' "$status" 0
like 'a source that is no file: line numbers' out '^ {20,}lines\.c:12$'

# Microtome's own code: the kernel and the vDSO
ip=$(nm "$BUILD/guest.elf" | awk '$3 == "calibrate" { print $1 }')
cp "$BUILD/guest.elf" kernel.elf
"$TOOLS/genviews" --elf kernel.elf --kernel-ip "$ip" overflow kernel.bin >/dev/null || exit 1
run_hr annotate '[kernel] calibrate' kernel.bin
is 'kernel: status' "$status" 0
like 'kernel: its first instruction' out "^ +33\\.50% +67 +[0-9,]+  +$ip  push "
run_guest -q -i 1us -o vdso.bin "$WORKLOADS/clocks" cost
run_hr annotate __vdso_clock_gettime vdso.bin
is 'vDSO: status' "$status" 0
like 'vDSO: instructions' out '^ +[0-9.]+% .* [0-9a-f]+  [a-z]+ '
done_testing
