/* Writes a trace with a few bytes changed and the checksums made right again, so that readers
 * believe it: what a checksum would catch is the easy part.
 *
 *   mutate SEED IN OUT
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/hr_format.h"
#include "lib/crc32c.h"

#define BYTES_MAX (16u << 20)
#define CHANGES_MAX 8u

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((state >> 33) * limit >> 31);
}

static void change(uint8_t *bytes, uint32_t count)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff, 32, 33, 36, 39, 40, 43, 44, 64, 68};
    uint32_t at = below(count);

    switch (below(4)) {
    case 0:
        bytes[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        bytes[at] = values[below(sizeof values)];
        break;
    case 2: /* a whole field */
        memset(bytes + at, below(2) != 0 ? 0xff : 0, count - at < 8 ? count - at : 8);
        break;
    default:
        bytes[at] = (uint8_t)below(256);
    }
}

/* Changes a chunk's payload, and now and then what its header says about it. */
static void mutate_chunk(uint8_t *bytes, struct hr_chunk_header *header)
{
    uint8_t *payload = bytes + sizeof *header;

    for (uint32_t n = header->payload_bytes != 0 ? 1 + below(CHANGES_MAX) : 0; n > 0; n--)
        change(payload, header->payload_bytes);
    if (below(4) == 0)
        header->time_last = below(2) != 0 ? UINT64_MAX : 0;
    if (below(8) == 0)
        header->cpu = (uint16_t)below(65536);
    if (below(8) == 0)
        header->sequence += below(3);
    header->payload_crc = crc32c(0, payload, header->payload_bytes);
    header->header_crc = crc32c(0, header, offsetof(struct hr_chunk_header, header_crc));
    memcpy(bytes, header, sizeof *header);
}

int main(int argc, char **argv)
{
    static uint8_t bytes[BYTES_MAX];
    size_t count, at = sizeof(struct hr_file_header);
    struct hr_chunk_header header;
    FILE *in = argc == 4 ? fopen(argv[2], "rb") : NULL;
    FILE *out = argc == 4 ? fopen(argv[3], "wb") : NULL;

    if (in == NULL || out == NULL) {
        fputs("usage: mutate SEED IN OUT\n", stderr);
        return 2;
    }
    state = strtoull(argv[1], NULL, 10);
    count = fread(bytes, 1, sizeof bytes, in);
    while (count - at >= sizeof header) {
        memcpy(&header, bytes + at, sizeof header);
        if (header.magic != HR_CHUNK_MAGIC || header.payload_bytes > count - at - sizeof header)
            break;
        if (below(3) == 0)
            mutate_chunk(bytes + at, &header);
        at += sizeof header + header.payload_bytes;
    }
    if (below(10) == 0)
        count -= below((uint32_t)count / 2);
    fclose(in);
    if (fwrite(bytes, 1, count, out) != count || fclose(out) != 0)
        return 1;
    return 0;
}
