/* The stick: the file system from which the loader was started.  UEFI 2.10, 13.4 "Simple File
 * System Protocol" and 13.5 "File Protocol".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot/uefi/firmware.h"
#include "lib/boot/boot_conf.h"

#define VOLUME_WHY_BYTES 160

struct volume_file { /* a file in allocated pages; volume_unload frees them */
    uint64_t address; /* 0: none */
    uint64_t bytes;
};

/* Return false on failure; `why` then says what is wrong, for people. */
bool volume_open(char why[VOLUME_WHY_BYTES]);
bool volume_read(const char *path, uint64_t bytes_max, struct volume_file *file,
                 char why[VOLUME_WHY_BYTES]);
/* As volume_read, and checks the length and CRC32C that the configuration gives. */
bool volume_load(const struct boot_conf_file *named, struct volume_file *file,
                 char why[VOLUME_WHY_BYTES]);
void volume_unload(struct volume_file *file);

#define VOLUME_DIRECTORY 1
#define VOLUME_CREATE 2
/* Opens a file or directory for reading and writing.  Returns NULL and *status on failure.  Paths
 * have backslashes. */
EFI_FILE *volume_file(const char *path, unsigned flags, EFI_STATUS *status);

/* Returns the highest number that is the whole name of an entry of a directory; 0 if there is none.
 */
uint32_t volume_highest_number(EFI_FILE *directory);

/* Truncates or extends an open file. */
EFI_STATUS volume_resize(EFI_FILE *file, uint64_t bytes);
