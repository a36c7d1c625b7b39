#!/bin/sh
# What looks at the page tables (hr run --pages) take of a program's time on KVM's own code.  The host's emulator executes one
# instruction a nanosecond by its own clock, whatever else this machine does: the kernel's, KVM's and the emulator's inside count alike,
# and times repeat to some microseconds.  The host has one CPU, so what the service CPU does counts as the program's time, too.
# ROUNDS of the program touched (200), of a millisecond each.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/kvm/host.sh"

machine=${REFERENCE_MACHINE:-$(XDG_CACHE_HOME=$users_cache "${KVM_HOST%/*}/../reference-machine/build.sh" 2>/dev/null | tail -n 1)}
[ -x "$machine" ] || skip_all "no emulator for kvm-host: REFERENCE_MACHINE=PATH names it"
cat >counting <<END
#!/bin/sh
for word; do
    shift
    [ "\$word" != tcg ] || word=tcg,thread=single
    set -- "\$@" "\$word"
done
exec '$machine' "\$@" -icount shift=0,sleep=off
END
chmod +x counting
export REFERENCE_MACHINE="$PWD/counting"

# looked NAME OPTION...: plans a run of a program that has 1 GB mapped, and touches 10 MB each millisecond.
looked() {
    name=$1
    shift
    guest "$name" -q --mem 64M -m off "$@" -- "$TOOLS/touched" 1024 10 10 "${ROUNDS:-200}"
}

# costs NAME LIMIT: the program takes at most so many hundredths of a percent longer, and some.
costs() {
    seen "$1"
    is "$1: the program runs" "$status" 0
    within "$1: a look each millisecond" "$("$HR" memory -f json hr.bin | jq .look_count)" "${ROUNDS:-200}" $((${ROUNDS:-200} * 5 / 4))
    spent=$(cat out)
    echo "# $1: $plain ns without looks, $spent with them: $(echo "$plain $spent" | awk '{ printf "%+.2f", 100 * ($2 / $1 - 1) }') %"
    within "$1: hundredths of a percent of the program's time" $(((spent - plain) * 10000 / plain)) 20 "$2"
}

plan_begin
looked without
looked looks --pages 1ms
looked split --pages 1ms --pages-split
boot 'looks under KVM' -c 1 || { done_testing; exit; }
seen without
is 'the program runs' "$status" 0
plain=$(cat out)
costs looks 200
costs split 300

done_testing
