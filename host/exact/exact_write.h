/* Puts what the emulator counted into the trace, as HOST chunks.  Never prints. */
#ifndef HOST_EXACT_EXACT_WRITE_H
#define HOST_EXACT_EXACT_WRITE_H

#include "host/collector/collect.h"

/* After the emulator has ended, before collect_close.  0; -ENODATA: the emulator did not load the
 * plugin; -EBADMSG: what the plugin left cannot be; -errno.
 */
int exact_write(struct collector *c, int fd);

#endif
