#!/bin/sh
# On KVM's own code: a guest as a domain of libvirt, type kvm: the totals are those of a direct run, its CPUs are
# pinned, nothing stays behind.
. "$(dirname "$0")/../lib.sh"
[ -n "${HR_TEST_LONG:-}" ] || { echo "1..0 # SKIP with HR_TEST_LONG=1: it takes minutes"; exit 0; }
. "$ROOT/tests/kvm/host.sh"

for tool in libvirtd virtlogd virsh; do
    command -v $tool >/dev/null || skip_all "no $tool (packages libvirt-daemon-system, libvirt-clients)"
done
drivers=$(find /usr/lib -name libvirt_driver_qemu.so -print -quit)
[ -n "$drivers" ] || skip_all 'no driver of libvirt for QEMU (package libvirt-daemon-driver-qemu)'

events='-e instructions:u,branches:u'
plan_begin
needs "$(command -v libvirtd)" "$(command -v virtlogd)" "$(command -v virsh)" "$drivers"
find /usr/lib -name libvirt.so.0 -print -quit >>files
find /usr/lib -name 'accel-tcg-x86_64.so' >>files # libvirt asks QEMU about both kinds
find /usr/share/libvirt/cpu_map -type f >>files
inside start_libvirt
# shellcheck disable=SC2086
for how in direct domain; do
    options=
    [ $how = direct ] || options=--libvirt
    guest $how-off $options -m off $events -- spin-musl 9000000
    guest $how-overflow $options -c 500009 $events -- spin-musl 9000000
done
guest domain-timer --libvirt -i 2ms $events -- spin-musl 9000000
guest domain-status --libvirt -m off -- crash-musl segv
guest domain-timeout --libvirt --timeout 2s -i 2ms -- crash-musl loop
needs "$WORKLOADS/crash-musl"
inside pinned_domain
inside 'virsh -q list --all >/out/domains; ls -d /tmp/microtome-* >/out/directories 2>/dev/null; emulators >/out/emulators'
boot 'libvirt' -k "${KERNELS:-6.1}" || done_testing

totals() {
    seen "$1"
    stat_of hr.bin '[.events[] | .total, .source] | join(" ")'
}
direct=$(totals direct-off)
like 'the direct run counts' results/direct-off.err '18,00[0-9],[0-9]+ +instructions:u'
for run in domain-off domain-timer direct-overflow domain-overflow; do
    is "$run: the totals are those of the direct run" "$(totals $run)" "$direct"
    is "$run: exit status" "$status" 0
    ok "$run: the trace is whole" "$HR" check hr.bin
done
seen domain-overflow
conserved domain-overflow 500009
seen domain-status
is 'a program that crashes: status' "$status" 139
seen domain-timeout
is '--timeout: status' "$status" 124
is 'pinned: each CPU of the guest has its own' "$(cat results/pinned)" '0
1'
is 'hr killed: no domain, no directory, no emulator is left' "$(cat results/domains results/directories results/emulators)" 0
done_testing
