/* Writes one stream of a run into files of limited length: NAME, NAME.1, NAME.2, ... Bytes that do
 * not fit on the stick are counted, and the part that was written is listed as it is.
 */
#pragma once

#include "boot/uefi/firmware.h"

#define RESULTS_PATH_BYTES 64

struct results_list { /* the lines of result.conf that list files */
    char *text;
    size_t bytes, room;
};

struct results_file {
    /* set by the caller */
    const char *directory; /* "\results\007" */
    uint64_t part_bytes;
    uint8_t *buffer; /* of RESULTS_BUFFER_BYTES */
    struct results_list *list;
    void (*written)(uint64_t bytes); /* bytes of this stream so far */
    /* used by the module only */
    const char *name;
    EFI_FILE *file; /* the open part */
    uint32_t part;
    uint32_t crc; /* checksum of the part */
    uint64_t part_used; /* bytes of the part that are on the stick */
    size_t buffered;
    uint64_t done; /* bytes of the stream that are on the stick */
    uint64_t cut; /* bytes that are not */
    EFI_STATUS status; /* first failure */
};

#define RESULTS_BUFFER_BYTES (1u << 20)

/* Returns the upper bound of what result.conf needs for a stream of `bytes` bytes. */
size_t results_file_list_bytes(uint64_t bytes, uint64_t part_bytes);

void results_file_begin(struct results_file *file, const char *name);
void results_file_put(struct results_file *file, const void *bytes, uint64_t count);
void results_file_end(struct results_file *file);

/* Writes at the file's position until the stick is full.  Returns the bytes written. */
uint64_t results_file_write(EFI_FILE *file, const void *bytes, uint64_t count, EFI_STATUS *status);
