/* What the loader learns of the machine: tables, names, random numbers, network cards. */
#ifndef BOOT_UEFI_MACHINE_H
#define BOOT_UEFI_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/boot_conf.h"

uint64_t machine_rsdp(void); /* physical addresses; 0: the firmware gives none */
uint64_t machine_smbios(void);

/* A name for results: the product's by SMBIOS and a network card's address.  No serial numbers, as
 * results go from hand to hand. */
void machine_name(char out[BOOT_CONF_NAME_BYTES]);

bool machine_secure_boot(void);

/* 16 random bytes: the firmware's, the CPU's as far as they have any, and clocks, mixed. */
void machine_random(uint8_t out[16]);

/* Takes the firmware's drivers off all network cards: a kernel that drives one needs it quiet. */
void machine_release_network(void);

#endif
