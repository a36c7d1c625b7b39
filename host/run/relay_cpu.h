/* Answers a guest that names its CPU: encodes the run's events for it. */
#pragma once

#include <stddef.h>

#include "host/base/run_failure.h"
#include "host/events/events.h"
#include "include/run_ports.h"

#define RELAY_CPU_ANSWER_MAX (3 * HR_EVENTS_MAX + 1)

/* Fills the answer to RUN_GUEST_CPU.  Returns its number of messages, or 0 with the failure filled
 * if an event does not exist on that CPU. */
size_t relay_cpu_answer(const struct events_wanted *wanted, const struct run_message *question,
                        struct run_message answer[RELAY_CPU_ANSWER_MAX],
                        struct run_failure *failure);
