/* Writes the emulator's counts into the trace, as HOST chunks.  Never prints. */
#pragma once

#include "host/collector/collect.h"

/* Call it after the emulator has ended, before collect_close.  Returns 0; -ENODATA: the emulator
 * did not load the plugin; -EBADMSG: the plugin's results are invalid; -errno. */
int exact_write(struct collector *c, int fd);
