/* `hr diff --machine`: what differs between the machines of two traces. */
#ifndef HOST_MACHINE_MACHINE_DIFF_H
#define HOST_MACHINE_MACHINE_DIFF_H

#include "host/scan/reader.h"

/* Reads both traces and shows what differs, what explains most first.  The command's exit status:
 * HR_EXIT_OK whether anything differs or not. */
int machine_diff(const char *before, const char *after, enum reader_format format);

#endif
