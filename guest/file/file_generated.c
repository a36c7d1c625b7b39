/* Files of /proc and /sys: their contents are generated when they are read from the beginning. */
#include <errno.h>
#include <sys/stat.h>

#include "guest/base/text.h"
#include "guest/file/files.h"
#include "guest/memory/phys.h"
#include "guest/vm/uaccess.h"

#define ORDER_FIRST 1u

static void file_generated_forget(struct file *file)
{
    if (file->buffer)
        phys_free(file->buffer, file->buffer_order);
    file->buffer = 0;
    file->bytes = 0;
}

/* Generates the contents, in a larger block each time they do not fit. */
static int file_generated_generate(const struct thread *thread, struct file *file)
{
    int64_t result = -ENOBUFS;
    struct text text;

    for (unsigned order = ORDER_FIRST; result == -ENOBUFS; order++) {
        file_generated_forget(file);
        file->buffer = order <= PHYS_ORDER_MAX ? phys_alloc(order) : 0;
        file->buffer_order = order;
        if (!file->buffer)
            return -ENOMEM;
        text =
            (struct text){.out = phys_pointer(file->buffer), .room = (uint64_t)PAGE_BYTES << order};
        file->inode->generate(thread, file->inode, &text);
        result = text_end(&text);
    }
    if (result < 0) {
        file_generated_forget(file);
        return (int)result;
    }
    file->bytes = (uint64_t)result;
    return 0;
}

static int64_t read_generated(struct thread *thread, struct file *file, uint64_t offset,
                              uint64_t user, uint64_t bytes)
{
    int error = 0;

    if (!offset || !file->buffer)
        error = file_generated_generate(thread, file);
    if (error)
        return error;
    if (offset >= file->bytes)
        return 0;
    if (bytes > file->bytes - offset)
        bytes = file->bytes - offset;
    error = copy_to_user(user, (const uint8_t *)phys_pointer(file->buffer) + offset, bytes);
    return error ? error : (int64_t)bytes;
}

/* Accepts settings, which have no effect. */
static int64_t write_generated(struct thread *, struct file *, uint64_t /* offset */,
                               uint64_t /* user */, uint64_t bytes)
{
    return (int64_t)bytes;
}

const struct file_type file_generated = {
    .mode = S_IFREG | 0444, .seekable = true, .read = read_generated, .write = write_generated};
