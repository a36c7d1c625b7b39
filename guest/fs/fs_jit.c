/* Finds the files that compilers at run time left, and sends them in the trace. */
#include "guest/fs/fs_jit.h"

#include <string.h>
#include <sys/stat.h>

#include "guest/base/log.h"
#include "guest/fs/fs_kept.h"
#include "guest/trace/trace.h"

#define PART_BYTES 32768u
#define ALL_BYTES_MAX (32u << 20) /* of all files: a trace is no place for more */

static struct {
    uint32_t files;
    uint64_t left; /* bytes that may still be sent */
    uint64_t left_out;
} jit;

static bool between(const char *name, uint32_t bytes, const char *head, const char *tail,
                    uint32_t *pid)
{
    uint32_t head_bytes = (uint32_t)strlen(head), tail_bytes = (uint32_t)strlen(tail);
    uint64_t number = 0;

    if (bytes <= head_bytes + tail_bytes || memcmp(name, head, head_bytes) != 0 ||
        memcmp(name + bytes - tail_bytes, tail, tail_bytes) != 0)
        return false;
    for (uint32_t i = head_bytes; i < bytes - tail_bytes; i++) {
        if (name[i] < '0' || name[i] > '9' || number > UINT32_MAX)
            return false;
        number = number * 10 + (uint64_t)(name[i] - '0');
    }
    *pid = (uint32_t)number;
    return number <= UINT32_MAX;
}

uint32_t fs_jit_kind(const char *name, uint32_t name_bytes, uint32_t *pid)
{
    if (between(name, name_bytes, "perf-", ".map", pid))
        return HR_JIT_PERF_MAP;
    return between(name, name_bytes, "jit-", ".dump", pid) ? HR_JIT_DUMP : 0;
}

/* Returns how many bytes of a file were sent. */
static uint64_t send_contents(struct inode *inode)
{
    static uint8_t part[PART_BYTES];
    const struct hr_meta_jit_data data = {.number = jit.files};
    uint64_t offset = 0;

    while (offset < inode->bytes && jit.left > 0) {
        uint64_t wanted = jit.left < sizeof part ? jit.left : sizeof part;
        int64_t bytes = inode_read(inode, offset, part, wanted);

        if (bytes <= 0 ||
            !trace_add_meta(HR_META_JIT_DATA, &data, sizeof data, part, (uint32_t)bytes))
            break;
        offset += (uint64_t)bytes;
        jit.left -= (uint64_t)bytes;
    }
    return offset;
}

static void send_file(void *, const struct fs_entry *entry)
{
    static char path[FS_PATH_MAX];
    struct inode *inode = entry->inode;
    struct hr_meta_jit_file file = {.bytes = inode->bytes, .number = jit.files};
    int64_t path_bytes;
    bool gone;

    if (!S_ISREG(inode->mode) || inode->bytes == 0)
        return;
    file.kind = fs_jit_kind(entry->name, entry->name_bytes, &file.pid);
    if (file.kind == 0)
        return;
    path_bytes = fs_path(entry, path, sizeof path, &gone);
    if (path_bytes < 0 ||
        !trace_add_meta(HR_META_JIT_FILE, &file, sizeof file, path, (uint32_t)path_bytes))
        return;
    jit.left_out += inode->bytes - send_contents(inode);
    jit.files++;
}

void fs_jit_send(void)
{
    jit.left = ALL_BYTES_MAX;
    fs_kept_walk(send_file, NULL);
    trace_send_meta();
    if (jit.left_out != 0)
        log_notice("the names of code made at run time: %lu bytes of the %u files that hold them "
                   "did not fit into the trace",
                   jit.left_out, jit.files);
}
