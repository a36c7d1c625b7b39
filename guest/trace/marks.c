/* Marks' texts, by number: an open-addressed table over a pool of bytes; nothing is ever removed.
 */
#include "guest/trace/marks.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "guest/base/log.h"
#include "lib/hash.h"

#define TABLE (2 * MARKS_MAX) /* half full at most: a search ends */

struct mark {
    uint32_t offset; /* in pool */
    uint32_t bytes;
};

static char pool[MARKS_BYTES_MAX];
static uint32_t pool_used;
static struct mark marks[MARKS_MAX];
static uint32_t mark_count;
static uint16_t table[TABLE]; /* number + 1; 0: free */

static int64_t marks_refuse(void)
{
    static bool reported;

    if (!reported)
        log_notice("hr_mark: more than %u different texts, or %u bytes of them: those beyond are "
                   "not in the trace; the calls return ENOSPC",
                   MARKS_MAX, MARKS_BYTES_MAX);
    reported = true;
    return -ENOSPC;
}

int64_t marks_number(const char *text, uint32_t bytes)
{
    uint32_t at = hash_bytes32(text, bytes) % TABLE;

    for (; table[at]; at = (at + 1) % TABLE) {
        const struct mark *mark = &marks[table[at] - 1];
        if (mark->bytes == bytes && memcmp(pool + mark->offset, text, bytes) == 0)
            return table[at] - 1;
    }
    if (mark_count == MARKS_MAX || bytes > MARKS_BYTES_MAX - pool_used)
        return marks_refuse();
    memcpy(pool + pool_used, text, bytes);
    marks[mark_count] = (struct mark){.offset = pool_used, .bytes = bytes};
    pool_used += bytes;
    table[at] = (uint16_t)++mark_count;
    return mark_count - 1;
}

const char *marks_text(uint64_t number, uint32_t *bytes)
{
    *bytes = marks[number].bytes;
    return pool + marks[number].offset;
}
