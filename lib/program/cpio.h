/* Archives in cpio's "newc" format (SVR4 without checksums; cpio(5), "New ASCII Format").
 * Reader: freestanding, in place, hostile input.  Writer: headers into a caller's buffer.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CPIO_HEADER_BYTES 110u /* before a name, which ends with NUL; padded to 4 together */

struct cpio_entry {
    const char *name; /* NUL-terminated, points into the archive; never empty */
    size_t name_bytes; /* without the NUL */
    size_t name_padding; /* further NULs after the name's, for a writer that aligns the data */
    const uint8_t *data;
    size_t bytes;
    uint32_t mode; /* as st_mode: type and permissions */
    uint32_t ino;
    uint32_t uid;
    uint32_t gid;
    uint32_t nlink;
    uint32_t mtime;
};

struct cpio_reader {
    const uint8_t *bytes;
    size_t count;
    size_t offset; /* of the next header; after an error, of the offending one */
};

enum cpio_status { CPIO_OK = 0, CPIO_END, CPIO_BAD_MAGIC, CPIO_BAD_FIELD, CPIO_TRUNCATED };

void cpio_init(struct cpio_reader *r, const void *bytes, size_t count);
enum cpio_status cpio_next(struct cpio_reader *r, struct cpio_entry *entry);
const char *cpio_status_text(enum cpio_status status);

/* Returns the name_padding that puts the data of an entry with its header at `offset` on a multiple
 * of `alignment`, a power of two.
 */
size_t cpio_name_padding(size_t offset, size_t name_bytes, size_t alignment);

/* Writes header, name and padding of an entry to `out`.  Returns the bytes written, or 0 if `room`
 * is too small.  The data follow, padded with cpio_padding(bytes) zero bytes.  cpio_write_trailer
 * writes the end-of-archive entry.
 */
size_t cpio_write_header(void *out, size_t room, const struct cpio_entry *entry);
size_t cpio_write_trailer(void *out, size_t room);
size_t cpio_padding(size_t bytes);
