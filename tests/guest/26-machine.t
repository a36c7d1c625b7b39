#!/bin/sh
# What the kernel says of the machine, under qboot and under SeaBIOS; SMIs that really come; registers as events.
# QEMU and FLAVOURS: see tests/flavours.sh.
. "$(dirname "$0")/../lib.sh"
[ -z "${QEMU:-}" ] || . "$ROOT/tests/flavours.sh"
intel=Icelake-Server

# The emulator with its own firmware and system management mode, or with two threads a core.
cat >qemu.sh <<END
#!/bin/sh
for word; do
    shift
    [ -z "\$skip" ] || { skip=; continue; }
    case \$BEND.\$word in
    smm.-bios) skip=1; continue ;;
    smm.*smm=off*) word=\$(echo "\$word" | sed 's/smm=off/smm=on/') ;;
    smt.[0-9]*) [ "\$last" != -smp ] || word="\$word,sockets=1,cores=\$((word / 2)),threads=2" ;;
    smt4.[0-9]*) [ "\$last" != -smp ] || word='4,sockets=1,cores=2,threads=2' ;;
    esac
    last=\$word
    set -- "\$@" "\$word"
done
exec "$(command -v qemu-system-x86_64)" "\$@"
END
chmod +x qemu.sh

# bent HOW ARG...: run_hr with that emulator.
bent() {
    BEND=$1
    export BEND
    shift
    run_hr run --accel tcg --qemu "$work/qemu.sh" "$@"
}

fact() { stat_of "$1" ".machine.facts.$2"; }

run_guest --mem 256M "$WORKLOADS/hello"
is 'plain run: status' "$status" 0
is 'the hypervisor' "$(fact hr.bin hypervisor)" TCGTCGTCGTCG
is 'the boot path' "$(fact hr.bin boot_entry)" pvh
is 'the memory module that QEMU made up' "$(fact hr.bin memory_modules)" '1 x 256 MiB'
like 'SMBIOS by the search' "$(fact hr.bin system >system && echo system)" '^QEMU, Standard PC'
is 'one core, one thread' "$(fact hr.bin cores).$(fact hr.bin threads)" 1.1
is 'caches' "$(fact hr.bin cache_l1d)" '64 KiB, 2 ways, lines of 64 bytes'
like 'features' "$(fact hr.bin features >features && echo features)" ' avx2 '
is 'what virtual time cannot have is not there' "$(stat_of hr.bin '.machine.cpus[0] | [.cpu, .frequency_hz, .smis, .thermal]' | tr -d ' \n')" \
    '[0,null,null,null]'
is 'no warning' "$(stat_of hr.bin '.machine.warnings | length')" 0
is 'no serial number or UUID has a key' "$("$HR" dump --format records hr.bin | grep -ciE 'text="machine\.[a-z_]*(serial|uuid|asset)')" 0

LIMIT=300
run_hr run --accel tcg --cpus 2 -o cpus.bin "$WORKLOADS/hello"
is 'two CPUs: status' "$status" 0
is 'two CPUs: each has its record' "$(stat_of cpus.bin '[.machine.cpus[] | .cpu, .apic_id] | @csv')" '1,1,2,2'
is 'two CPUs: their ids' "$(fact cpus.bin program_apic_ids)" 1,2
bent smt --cpus 1 -o smt.bin "$WORKLOADS/hello"
is 'two threads of a core: topology' "$(fact smt.bin cores).$(fact smt.bin threads)" 1.2
is 'the service CPU is the sibling' "$(fact smt.bin siblings_active)" 0
like 'and that is worth a warning' "$(stat_of smt.bin '.machine.warnings[]' >warnings && echo warnings)" 'APIC ids 0$'

bent smt4 --cpus 1 -o smt.bin "$WORKLOADS/hello"
is 'two cores: the program gets the one that the kernel has not' "$(fact smt.bin program_apic_ids)" 2
is 'its other thread rests' "$(fact smt.bin siblings_active).$(fact smt.bin siblings_idle)" null.3
is 'two cores: no warning' "$(stat_of smt.bin '.machine.warnings | length')" 0

run_guest --accel tcg --cpu $intel -e instructions -o plain.bin "$WORKLOADS/phases-musl" 3 1
run_guest --accel tcg --cpu $intel -e smi,instructions -o smi.bin "$WORKLOADS/phases-musl" 3 1
is 'registers come after counters' "$(stat_of smi.bin '[.events[] | .name, .source] | join(" ")')" 'instructions icount smi msr'
is 'nothing happened' "$(total smi.bin smi)" 0
is 'the program ran the same instructions' "$(total smi.bin instructions)" "$(total plain.bin instructions)"
is 'the same samples' "$("$HR" dump smi.bin | cut -d, -f1,4,6 | cksum)" "$("$HR" dump plain.bin | cut -d, -f1,4,6 | cksum)"

for where in start end; do
    bent smm --cpu $intel -e instructions,smi --panic-test $where-smi -o $where.bin "$WORKLOADS/hello"
    is "SMIs at the $where: status" "$status" 0
    is "SMIs at the $where: as many as were raised" "$(stat_of $where.bin '.machine.cpus[0].smis')" 3
    is "SMIs at the $where: the event counts them, too" "$(total $where.bin smi)" 3
    like "SMIs at the $where: the summary warns" err '^ Warning: 3 SMIs stopped CPUs; hr stat --machine '
done
like 'the firmware has another name now' "$(fact start.bin bios >bios && echo bios)" '^SeaBIOS, '
run_hr diff --machine end.bin smi.bin
like 'hr diff --machine: SMIs' out '^ During the run: SMIs$'
like 'hr diff --machine: firmware' out '^   before  SeaBIOS, '

run_guest --accel tcg -e imc-reads "$WORKLOADS/hello"
like 'the memory controller where there is none: refused' err '^hr: event imc-reads: this CPU does not have the register.* up to Ice Lake.* not of virtual machines'
run_guest --accel tcg -e df-channel0 "$WORKLOADS/hello"
like 'the data fabric likewise' err "^hr: event df-channel0: this CPU does not have the register.* AMD's Zen 2 and 3"
run_guest --accel tcg -e mbm-total,instructions "$WORKLOADS/hello"
is 'the cache monitor where there is none: refused' "$status.$(cat out)" '125.'
like 'the cache monitor: the reason' err '^hr: event mbm-total: this CPU does not have the register.* CPUID leaf FH offers no such monitoring'
run_guest --accel tcg -e aperf,instructions "$WORKLOADS/hello"
is 'aperf where there is none: refused' "$status.$(cat out)" '125.'
like 'with the reason and the remedy' err '^hr: event aperf: this CPU does not have the register.* leave it out, or run on hardware'
run_guest --accel tcg -e smi "$WORKLOADS/hello"
like 'smi on an AMD model: refused' err "^hr: event smi: this CPU does not have the register.*only Intel's"
run_guest -c 1000 -e smi,instructions "$WORKLOADS/hello"
like 'a register as trigger: refused' err "^hr: event 'smi' is a register and cannot interrupt; .* -e instructions,smi$"

flavour=$(printf '%s\n' "${FLAVOURS:-}" | grep -m 1 -i '^icelake') || flavour=
if [ -n "$flavour" ] && [ "${ACCEL:-tcg}" = tcg ] && [ -n "${QEMU:-}" ]; then
    for trigger in '-i 10us' '-c 1000' '--mode ipi --cpus 2'; do
        # shellcheck disable=SC2086
        on_flavour $trigger -e instructions,smi,cycles "$WORKLOADS/hello"
        is "beside real counters, $trigger: status" "$status" 0
        is "beside real counters, $trigger: sources" "$(stat_of hr.bin '[.events[] | .name, .source] | join(" ")')" \
            'instructions pmu cycles pmu smi msr'
    done
    run_hr events --cpu "$flavour" smi
    like 'hr events lists them' out '^  smi +MSR 34 '
else
    skip 7 'no emulator with counters of an Intel CPU: QEMU'
fi
done_testing
