/* The kernel's command line under PVH: what a loader would say in boot_info, for runs that are not
 * launched by `hr run`.
 *
 * Words "key=value" with blanks between them, the keys as in microtome.conf:
 *   output=network collector=ADDRESS[:PORT] address=dhcp|ADDRESS/BITS gateway=ADDRESS token=TEXT
 *   machine=NAME run=NAME id=HEX (1 to 8 digits, of this run alone)
 *   buffer=SIZE (cut off the end of memory)
 * Without output=network nothing else means anything, but that buffer= takes its memory all the
 * same.
 */
#ifndef LIB_BOOT_COMMAND_H
#define LIB_BOOT_COMMAND_H

#include "include/boot_info.h"

/* Reads boot->command_line into boot->output, boot->network, and the size of the buffer into
 * *buffer_bytes.  A bad value is as good as none (0, empty, no buffer), which whoever needs it
 * complains about; other words are passed over: boot loaders add theirs.
 */
void boot_command_parse(struct boot_info *boot, uint64_t *buffer_bytes);

#endif
