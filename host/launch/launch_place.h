/* Places the threads of an emulator that was started paused, then lets the guest run. */
#pragma once

#include "host/launch/launch.h"

/* Pins the guest's CPUs and the emulator's other threads and sets SCHED_FIFO, as the machine says,
 * then starts the guest.  Returns 0, also if the emulator has ended (its exit status tells why), or
 * -1 with the failure filled. */
int launch_place(struct launch *launch, const struct launch_machine *machine,
                 struct run_failure *failure);
