/* The loader's knowledge of the machine: tables, names, random numbers, network cards. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/boot/boot_conf.h"

uint64_t machine_rsdp(void); /* physical addresses; 0: the firmware provides none */
uint64_t machine_smbios(void);

/* Writes a name for results, from the product's name in SMBIOS and a network card's address.  It
 * has no serial numbers, because results are passed on. */
void machine_name(char out[BOOT_CONF_NAME_BYTES]);

bool machine_secure_boot(void);

/* Writes 16 random bytes, mixed from the firmware's, the CPU's (as far as they have any) and
 * clocks. */
void machine_random(uint8_t out[16]);

/* Disconnects the firmware's drivers from all network cards: a kernel that drives one needs it
 * idle.
 */
void machine_release_network(void);
