/* The program's stdin, as service work sees it: from the host, or, where there is none, a file of
 * the archive.  Service context.
 */
#pragma once

#include <stdint.h>

#include "guest/cpu/cpu.h"
#include "include/run_ports.h"

/* As service_read and service_ask_input of guest/service/service.h, for `cpu`. */
int64_t service_input_read(struct cpu *cpu, uint64_t most, uint64_t patience_ms);
int64_t service_input_ask(uint64_t ns);

/* RUN_HOST_INPUT.  Not while the kernel lock is held. */
void service_input_take(const struct run_message *message);

/* Service context: the host says that these POLL* hold of stdin; set at boot. */
extern void (*service_input_arrived)(uint32_t events);
