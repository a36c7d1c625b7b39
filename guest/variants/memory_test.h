/* Output into memory in test kernels; for test_hook_on.c. */
#pragma once

#include "include/boot_info.h"

/* Makes parts of RAM the buffer, if the command line says so. */
void memory_test_prepare(struct boot_info *boot);

/* Writes to the serial port what the loader would find. */
void memory_test_result(void);
