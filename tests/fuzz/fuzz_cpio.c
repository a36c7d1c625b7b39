/* Fuzzes the archive reader: entries lie inside the archive and survive writing and reading. */
#include <string.h>

#include "lib/program/cpio.h"
#include "tests/fuzz/fuzz.h"

static void check_again(const struct cpio_entry *entry)
{
    size_t room = 128 + entry->name_bytes + entry->bytes + 128;
    size_t data_bytes = entry->bytes + cpio_padding(entry->bytes);
    uint8_t *out = malloc(room);
    struct cpio_entry again;
    struct cpio_reader r;
    size_t length;

    fuzz_check(out != NULL);
    length = cpio_write_header(out, room, entry);
    fuzz_check(length != 0 && length % 4 == 0);
    memset(out + length, 0, data_bytes);
    memcpy(out + length, entry->data, entry->bytes);
    length += data_bytes;
    cpio_init(&r, out, length);
    fuzz_check(cpio_next(&r, &again) == CPIO_OK);
    fuzz_check(again.name_bytes == entry->name_bytes && again.bytes == entry->bytes);
    fuzz_check(strcmp(again.name, entry->name) == 0);
    fuzz_check(memcmp(again.data, entry->data, entry->bytes) == 0);
    fuzz_check(again.mode == entry->mode && again.ino == entry->ino && again.uid == entry->uid);
    fuzz_check(again.gid == entry->gid && again.nlink == entry->nlink);
    fuzz_check(again.mtime == entry->mtime);
    length += cpio_write_trailer(out + length, room - length);
    cpio_init(&r, out, length);
    fuzz_check(cpio_next(&r, &again) == CPIO_OK && cpio_next(&r, &again) == CPIO_END);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cpio_reader r;
    struct cpio_entry entry;
    enum cpio_status status;
    size_t before = 0;

    cpio_init(&r, data, size);
    while ((status = cpio_next(&r, &entry)) == CPIO_OK) {
        fuzz_check(r.offset > before && r.offset <= size && r.offset % 4 == 0);
        before = r.offset;
        fuzz_check(entry.data >= data && entry.bytes <= (size_t)(data + size - entry.data));
        fuzz_check(entry.name_bytes > 0 && strlen(entry.name) == entry.name_bytes);
        fuzz_check((const uint8_t *)entry.name > data &&
                   (const uint8_t *)entry.name + entry.name_bytes < data + size);
        check_again(&entry);
    }
    fuzz_check(strcmp(cpio_status_text(status), "unknown status") != 0);
    fuzz_check(r.offset == before);
    return 0;
}
