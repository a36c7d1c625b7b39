/* The PVH boot path; boot/pvh_entry.S calls it once, in long mode, with interrupts off. */
#pragma once

#include <stdint.h>

/* start_info_physical: physical address of hvm_start_info.  Does not return. */
void pvh_boot(uint64_t start_info_physical);
