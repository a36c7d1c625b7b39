/* Handles a descriptor of the relay that is ready.  For host/run/relay.c only. */
#pragma once

#include "host/run/relay.h"

void relay_events_handle(struct relay *r, enum relay_slot slot, uint64_t now_ns);

/* Sends messages to the guest.  Returns whether it took them: they fit into the socket's buffer
 * unless the guest is stuck. */
bool relay_events_tell(struct relay *r, const struct run_message *messages, size_t count);

/* Asks the guest to end the program; after a few seconds the emulator is killed. */
void relay_events_stop(struct relay *r, int signal_number, bool timeout, uint64_t now_ns);

/* Kills the emulator; output that stays blocked is given up soon afterwards. */
void relay_events_kill(struct relay *r, uint64_t now_ns);
