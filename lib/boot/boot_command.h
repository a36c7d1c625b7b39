/* The kernel's command line under PVH.  It replaces what a loader puts into boot_info, for runs
 * that `hr run` does not launch.
 *
 * It has words "key=value" separated by blanks, with the keys of microtome.conf:
 *   output=network collector=ADDRESS[:PORT] address=dhcp|ADDRESS/BITS gateway=ADDRESS token=TEXT
 *   machine=NAME run=NAME id=HEX (1 to 8 digits, of this run alone)
 *   buffer=SIZE (cut off the end of memory)
 * Without output=network, all words but buffer= are ignored.
 */
#pragma once

#include "include/boot_info.h"

/* Reads boot->command_line into boot->output and boot->network, and the buffer's size in bytes into
 * *buffer_bytes.  A bad value counts as none (0, empty, no buffer); the code that needs it reports
 * that.  Other words are ignored, because boot loaders add their own.
 */
void boot_command_parse(struct boot_info *boot, uint64_t *buffer_bytes);
