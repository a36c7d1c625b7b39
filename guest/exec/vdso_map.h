/* The vDSO: the part of the kernel's clocks that the program reads without a system call. */
#pragma once

#include "guest/base/layout.h"
#include "guest/vdso/data.h"
#include "guest/vm/vm.h"

/* The data that the program reads; mapped at VDSO_DATA by vdso_init. */
extern union vdso_data_page {
    struct vdso_data data;
    uint8_t bytes[PAGE_BYTES];
} vdso_data_page;

/* Maps the code where there is room.  *base is for AT_SYSINFO_EHDR.  Returns 0 or -errno. */
int vdso_map(struct vm_space *space, uint64_t *base);

/* Announces it in the trace's load map. */
void vdso_announce(uint64_t base);

/* Boot, when the clock is known, run.start_ticks is set and the program has not started: fills in
 * the data. */
void vdso_start(void);

/* Boot, after vm_init: maps the page that the program's vDSO reads. */
void vdso_init(void);
