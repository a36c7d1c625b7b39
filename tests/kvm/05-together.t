#!/bin/sh
# On KVM's own code, in one host, as a boot takes as long as four runs: what the service CPU observes, runs that are stopped, and
# what a sample costs in exits.  ONLY='exits observed stops': some of them.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/kvm/host.sh"
. "$ROOT/tests/kvm/observed.sh"
. "$ROOT/tests/kvm/stops.sh"
. "$ROOT/tests/kvm/exits.sh"

parts=${ONLY:-observed stops exits}
export KVM_HOST_LIMIT="${KVM_HOST_LIMIT:-$((300 + stops * 10))}"
for kernel in ${KERNELS:-6.1}; do
    echo "# $parts, Linux $kernel"
    plan_begin
    for part in $parts; do
        plan_"$part"
    done
    boot "Linux $kernel" -k "$kernel" || continue
    for part in $parts; do
        check_"$part"
    done
done
done_testing
