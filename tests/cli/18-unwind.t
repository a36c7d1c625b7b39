#!/bin/sh
# Call stacks from copies of the stack (-g dwarf), in programs and libraries without frame pointers.
. "$(dirname "$0")/../lib.sh"

cat >walk.c <<'END'
#include <stdlib.h>
typedef int (*compare_fn)(const void *, const void *);
static int *numbers;
/* room of its own size on the stack: only the call frame information says where the caller is */
__attribute__((noipa)) int walk_deep(int depth, compare_fn compare)
{
    volatile char room[64 + 16 * depth];
    int result = depth;

    room[depth] = 1;
    if (depth > 0) {
        result += walk_deep(depth - 1, compare);
    } else {
        numbers = malloc(1000 * sizeof *numbers);
        for (int i = 0; i < 1000; i++)
            numbers[i] = i * 7919 % 1000;
        qsort(numbers, 1000, sizeof *numbers, compare);
    }
    return result + room[depth];
}
END
cat >chain.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <string.h>
typedef int (*compare_fn)(const void *, const void *);
int walk_deep(int depth, compare_fn compare);
static volatile unsigned sink;
__attribute__((noipa)) void burn(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i; }
__attribute__((noipa)) int ordered(const void *a, const void *b) { burn(20); return *(const int *)a - *(const int *)b; }
__attribute__((noipa)) void handle(int signal) { (void)signal; burn(100000); sink++; }
__attribute__((noipa)) void interrupted(void) { raise(SIGUSR1); sink++; }
__attribute__((noipa)) void *body(void *p) { burn(100000); sink++; return p; }
int main(void)
{
    struct sigaction action;
    pthread_t thread;

    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    sigaction(SIGUSR1, &action, 0);
    walk_deep(5, ordered);
    interrupted();
    pthread_create(&thread, 0, body, 0);
    pthread_join(thread, 0);
    return 0;
}
END
flags='-O2 -fomit-frame-pointer -Wl,--build-id'
# shellcheck disable=SC2086
gcc $flags -fPIC -shared -o libwalk.so walk.c && gcc $flags -o chain chain.c ./libwalk.so -pthread || exit 1

# folded TRACE [OPTION...]: its stacks, a line each, in the file out.
folded() {
    trace=$1
    shift
    run_hr export folded -o - "$@" "$trace"
}

# weight REGEX: samples of the stacks in the file out that match.
weight() {
    grep -aE -e "$1" out | awk '{ sum += $NF } END { printf "%d", sum }'
}

# what the C library's own functions are called depends on whether its debug file is there
main='^_start;.*;main;'
run_guest -q -g dwarf,16384 -i 10us -o chain.bin ./chain
is 'a run with copies of the stack: status' "$status" 0
folded chain.bin
is 'export: status' "$status" 0
is 'every sample is in it' "$(weight .)" "$(stat_of chain.bin .samples)"
like 'through a library, the C library and back' out \
    "${main}(walk_deep;){6}[^ ]*;ordered;burn [0-9]+\$"
is 'all samples of the callback have the whole stack' "$(weight ';ordered')" "$(weight "${main}(walk_deep;){6}.*;ordered")"
like 'below a signal handler: who was interrupted' out "${main}interrupted;.*;handle;burn [0-9]+\$"
is 'all of them' "$(weight ';handle')" "$(weight "${main}interrupted;.*;handle")"
like 'from the start of a thread' out ';body;burn [0-9]+$'
is 'no more, and no less' "$(weight ';body')" \
    "$(awk '/;body/ && !/^\[(broken|truncated)\]/ && !/;main;/ { sum += $NF } END { printf "%d", sum }' out)"
# the C library's clone3 has no call frame information around its system call
within 'what cannot be followed: a sample or two' "$(weight '^\[broken\]')" 0 2
cp out first
folded chain.bin
same_file 'the same again' first out

run_guest -q -g dwarf,256 -i 10us -o short.bin ./chain
folded short.bin
like 'short copies: marked' out '^\[truncated\];(walk_deep;)*[^ ]*ordered;burn [0-9]+$'
is 'short copies: nothing of what lies behind them' "$(weight "${main}.*;ordered")" 0

# stripped programs keep what unwinding needs, and debug files give the names
objcopy --only-keep-debug chain chain.debug && strip chain && strip --strip-debug libwalk.so || exit 1
folded chain.bin --program chain
is 'stripped: the stacks are as whole' "$(weight '^\[(broken|truncated)\]')" "$(grep -aE '^\[(broken|truncated)\]' first | awk '{ sum += $NF } END { printf "%d", sum }')"

for kind in static-pie musl; do
    case $kind in
    static-pie) program=$TOOLS/phases-static-pie ;;
    musl) program=$WORKLOADS/phases-musl ;;
    esac
    [ -x "$program" ] || { skip 2 "no $kind programs here"; continue; }
    run_guest -q -g dwarf -i 10us -o $kind.bin "$program" 3 1
    folded $kind.bin
    is "$kind: its callers are known" "$(weight ';sift_down')" "$(weight ';main;phase_sort;sift_down')"
    case $kind in # glibc has none for _init and _fini, where a sample may be
    static-pie) least=0 most=2 ;;
    musl) least=1 most=100000 ;;
    esac
    within "$kind: where it has no call frame information is said" "$(weight '^\[broken\]')" $least $most
done

run_guest -q -g dwarf -i 1us -o vdso.bin "$WORKLOADS/clocks" cost
folded vdso.bin
like 'through the vDSO' out "${main}.*__vdso_clock_gettime"
is 'nothing in it is broken' "$(weight '^\[broken\].*__vdso')" 0

rm -rf "$XDG_CACHE_HOME/microtome" # no copy was kept
mv libwalk.so gone.so
folded chain.bin --program chain
is 'a library that is gone: status' "$status" 0
like 'a library that is gone: said' err 'libwalk\.so: not found'
like 'a library that is gone: the stack ends there' out '^\[broken\];'
done_testing
