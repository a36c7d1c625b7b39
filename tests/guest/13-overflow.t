#!/bin/sh
# Sampling on counter overflow: every sample a period after the last, at the right instruction, with
# nothing lost, doubled or spurious.  QEMU and FLAVOURS as for 10-counters.t.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../flavours.sh"

# overflow OPTION... PROGRAM ARG...: on the flavour.
overflow() {
    run_guest --accel tcg --qemu "$QEMU" --cpu "$flavour" "$@"
}
