/* The names of sampling modes, as --mode, the manifest and reports spell them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns the name of an enum hr_mode, or NULL if `mode` is not one. */
const char *modes_name(uint32_t mode);

/* Returns an enum hr_mode, or -1 if there is none of that name. */
int modes_find(const char *name);

/* Returns whether samples are taken in a mode. */
bool modes_sample(uint32_t mode);
