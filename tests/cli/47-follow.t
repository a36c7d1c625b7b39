#!/bin/sh
# Commands that follow a trace while it is written, from a file and from a pipe: tests/cli/follow.py feeds them.
. "$(dirname "$0")/../lib.sh"

"$TOOLS/gentrace" --elf "$WORKLOADS/phases" 200000 plain.bin && "$TOOLS/gentrace" --stacks fp 20000 stacks.bin &&
    "$TOOLS/genallocs" 2000 allocations.bin && "$TOOLS/gentrace" 3000 other.bin && cp plain.bin damaged.bin || exit 1
for place in 300000 700001; do
    printf 'damage' | dd of=damaged.bin bs=1 seek=$place conv=notrunc 2>/dev/null
done
"$TOOLS/gentrace" --marks 100000 marks.bin && "$HR" run -q -i 10us -o waits.bin "$WORKLOADS/crowd" switches 1500 >out &&
    cp "$ROOT/tests/golden/triggers.bin" regions.bin || exit 1
python3 "$ROOT/tests/cli/follow.py" plain.bin stacks.bin damaged.bin allocations.bin \
    "$ROOT"/tests/golden/names.bin "$ROOT"/tests/golden/exact.bin "$ROOT"/tests/golden/processes.bin >checks 2>errors
is 'the feeder ran to its end' "$?" 0
while read -r line; do
    tests_done=$((tests_done + 1))
    case $line in
    ok\ *) echo "ok $tests_done - ${line#ok }" ;;
    *) tests_failed=$((tests_failed + 1)) && echo "not ok $tests_done - ${line#not ok }" ;;
    esac
done <checks
[ ! -s errors ] || cat errors >&2
done_testing
