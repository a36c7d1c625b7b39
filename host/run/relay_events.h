/* Handles a descriptor of the relay that is ready.  For host/run/relay.c only. */
#pragma once

#include "host/run/relay.h"

void relay_events_handle(struct relay *r, enum relay_slot slot, uint64_t now_ns);

/* Asks the guest to end the program; after a few seconds the emulator is killed. */
void relay_events_stop(struct relay *r, int signal_number, bool timeout, uint64_t now_ns);

/* Kills the emulator; output that stays blocked is given up soon afterwards. */
void relay_events_kill(struct relay *r, uint64_t now_ns);
