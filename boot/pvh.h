/* The PVH boot path: called once from boot/pvh_entry.S, in long mode, interrupts off. */
#ifndef BOOT_PVH_H
#define BOOT_PVH_H

#include <stdint.h>

/* start_info_physical: address of hvm_start_info.  Does not return. */
void boot_pvh(uint64_t start_info_physical);

#endif
