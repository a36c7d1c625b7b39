/* What triggers a sample, by name: as --mode, the manifest and reports spell it. */
#ifndef LIB_MODES_H
#define LIB_MODES_H

#include <stdint.h>

/* Of an enum hr_mode; NULL for a number that is none. */
const char *modes_name(uint32_t mode);

/* An enum hr_mode, or -1. */
int modes_find(const char *name);

#endif
