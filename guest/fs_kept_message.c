/* Messages for the files port. */
#include <string.h>
#include <sys/stat.h>

#include "guest/fs_kept.h"
#include "guest/layout.h"
#include "guest/service.h"
#include "include/run_ports.h"

#define PERMISSIONS 07777u
#define ID_ANEW (1ull << 63)
#define CONTENTS_AT_ONCE (SERVICE_BYTES_MAX - 4096u)

void fs_kept_flush(struct fs_kept_buffer *buffer)
{
    if (buffer->used && buffer->send)
        buffer->send(buffer->bytes, buffer->used);
    buffer->used = 0;
    buffer->last = NULL;
}

/* Room for a message and what follows it; sends what is there if it must. */
static struct run_file_message *add(struct fs_kept_buffer *buffer, size_t bytes)
{
    struct run_file_message *message;

    if (buffer->used + sizeof *message + bytes > SERVICE_BYTES_MAX)
        fs_kept_flush(buffer);
    message = (struct run_file_message *)(buffer->bytes + buffer->used);
    *message = (struct run_file_message){.bytes = (uint32_t)bytes};
    buffer->used += sizeof *message + bytes;
    buffer->last = NULL;
    return message;
}

/* What was sent of a file that then became shorter is of no use: it gets another number. */
static uint64_t id_of(const struct inode *inode)
{
    return inode->stale ? inode->number | ID_ANEW : inode->number;
}

/* Room for data of a file: after the last message if they continue it. */
static uint8_t *add_data(struct fs_kept_buffer *buffer, const struct inode *inode, uint64_t offset,
                         size_t bytes)
{
    struct run_file_message *last = buffer->last;

    if (last && last->id == id_of(inode) && last->offset + last->bytes == offset &&
        buffer->used + bytes <= SERVICE_BYTES_MAX && last->bytes + bytes <= RUN_FILE_BYTES_MAX) {
        last->bytes += (uint32_t)bytes;
        buffer->used += bytes;
    } else {
        last = add(buffer, bytes);
        last->type = RUN_FILE_DATA;
        last->id = id_of(inode);
        last->offset = offset;
        buffer->last = last;
    }
    return buffer->bytes + buffer->used - bytes;
}

bool fs_kept_add_pages(struct fs_kept_buffer *buffer, struct inode *inode, uint64_t *index,
                       bool last)
{
    for (;;) {
        const void *page;
        uint64_t offset, left;

        if (!buffer->send &&
            buffer->used + sizeof(struct run_file_message) + PAGE_BYTES > SERVICE_BYTES_MAX)
            return true;
        page = inode_next_unsent(inode, index, last);
        if (!page)
            return false;
        offset = *index * PAGE_BYTES;
        left = offset < inode->bytes ? inode->bytes - offset : 0;
        if (left > PAGE_BYTES)
            left = PAGE_BYTES;
        if (left)
            memcpy(add_data(buffer, inode, offset, left), page, left);
        ++*index;
    }
}

void fs_kept_add_contents(struct fs_kept_buffer *buffer, struct inode *inode)
{
    uint64_t offset = 0;

    while ((offset = inode_seek(inode, offset, true)) != UINT64_MAX) {
        uint64_t left = inode->bytes - offset;
        size_t bytes = left < CONTENTS_AT_ONCE ? (size_t)left : CONTENTS_AT_ONCE;

        (void)inode_read(inode, offset, add_data(buffer, inode, offset, bytes), bytes);
        offset += bytes;
    }
}

void fs_kept_add_entry(struct fs_kept_buffer *buffer, uint32_t type, const struct fs_entry *entry)
{
    const struct inode *inode = entry->inode;
    size_t target_bytes = type == RUN_FILE_LINK ? inode->bytes : 0;
    struct run_file_message *message = add(buffer, FS_PATH_MAX + target_bytes);
    char *text = (char *)(message + 1);
    bool gone;
    int64_t bytes = fs_path(entry, text, FS_PATH_MAX, &gone);

    buffer->used -= FS_PATH_MAX + target_bytes;
    if (bytes < 0) { /* no path: nobody could open it */
        buffer->used -= sizeof *message;
        return;
    }
    memcpy(text + bytes, inode->target, target_bytes);
    *message = (struct run_file_message){.type = type,
                                         .bytes = (uint32_t)((size_t)bytes + target_bytes),
                                         .id = id_of(inode),
                                         .mode = inode->mode & PERMISSIONS,
                                         .modified = inode->times.modified};
    if (type == RUN_FILE_LINK)
        message->offset = (uint64_t)bytes;
    else if (type == RUN_FILE_NAME)
        message->offset = inode->bytes;
    buffer->used += message->bytes;
}

void fs_kept_add_text(struct fs_kept_buffer *buffer, uint32_t type, const char *text)
{
    size_t bytes = strlen(text);
    struct run_file_message *message = add(buffer, bytes);

    message->type = type;
    memcpy(message + 1, text, bytes);
}

void fs_kept_add_end(struct fs_kept_buffer *buffer, uint64_t left_out)
{
    struct run_file_message *message = add(buffer, 0);

    message->type = RUN_FILE_END;
    message->offset = left_out;
}
