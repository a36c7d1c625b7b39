/* Messages for the files port. */
#include <string.h>

#include "guest/base/layout.h"
#include "guest/fs/fs_kept.h"
#include "guest/service/service.h"
#include "include/run_ports.h"

#define PERMISSIONS 07777u
#define ID_ANEW (1ull << 63)
#define CONTENTS_AT_ONCE (SERVICE_BYTES_MAX - 4096u)

void fs_kept_flush(struct fs_kept_buffer *buffer)
{
    if (buffer->used && buffer->send != NULL)
        buffer->send(buffer->bytes, buffer->used);
    buffer->used = 0;
    buffer->last = NULL;
}

/* Adds a message and room for the message->bytes after it, which it returns.  Sends the buffer
 * first if it is too full.  Messages are not aligned. */
static uint8_t *add_message(struct fs_kept_buffer *buffer, const struct run_file_message *message)
{
    uint8_t *at;

    if (buffer->used + sizeof *message + message->bytes > SERVICE_BYTES_MAX)
        fs_kept_flush(buffer);
    at = buffer->bytes + buffer->used;
    memcpy(at, message, sizeof *message);
    buffer->used += sizeof *message + message->bytes;
    buffer->last = NULL;
    return at + sizeof *message;
}

/* Returns the inode's id in messages.  A file that became shorter gets another one, so that the
 * host ignores what was sent before. */
static uint64_t id_of(const struct inode *inode)
{
    return inode->stale ? inode->number | ID_ANEW : inode->number;
}

/* Returns room for data of a file, in the last message if the data continues it. */
static uint8_t *add_data(struct fs_kept_buffer *buffer, const struct inode *inode, uint64_t offset,
                         size_t bytes)
{
    struct run_file_message message = {
        .type = RUN_FILE_DATA, .bytes = (uint32_t)bytes, .id = id_of(inode), .offset = offset};
    struct run_file_message last = {0};
    uint8_t *data;

    if (buffer->last != NULL)
        memcpy(&last, buffer->last, sizeof last);
    if (last.type && last.id == message.id && last.offset + last.bytes == offset &&
        buffer->used + bytes <= SERVICE_BYTES_MAX && last.bytes + bytes <= RUN_FILE_BYTES_MAX) {
        last.bytes += message.bytes;
        memcpy(buffer->last, &last, sizeof last);
        buffer->used += bytes;
        return buffer->bytes + buffer->used - bytes;
    }
    data = add_message(buffer, &message);
    buffer->last = data - sizeof message;
    return data;
}

bool fs_kept_add_pages(struct fs_kept_buffer *buffer, struct inode *inode, uint64_t *index,
                       bool last)
{
    for (;;) {
        const void *page;
        uint64_t offset, left;

        if (buffer->send == NULL &&
            buffer->used + sizeof(struct run_file_message) + PAGE_BYTES > SERVICE_BYTES_MAX)
            return true;
        page = inode_next_unsent(inode, index, last);
        if (page == NULL)
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
    static char path[FS_PATH_MAX];
    const struct inode *inode = entry->inode;
    size_t target_bytes = type == RUN_FILE_LINK ? inode->bytes : 0;
    struct run_file_message message = {.type = type,
                                       .id = id_of(inode),
                                       .mode = inode->mode & PERMISSIONS,
                                       .modified = inode->times.modified};
    uint8_t *text;
    bool gone;
    int64_t bytes = fs_path(entry, path, sizeof path, &gone);

    if (bytes < 0)
        return; /* too deep: no program could open it by that path */
    message.bytes = (uint32_t)((size_t)bytes + target_bytes);
    if (type == RUN_FILE_LINK)
        message.offset = (uint64_t)bytes;
    else if (type == RUN_FILE_NAME)
        message.offset = inode->bytes;
    text = add_message(buffer, &message);
    memcpy(text, path, (size_t)bytes);
    if (target_bytes)
        memcpy(text + bytes, inode->target, target_bytes);
}

void fs_kept_add_text(struct fs_kept_buffer *buffer, uint32_t type, const char *text)
{
    const struct run_file_message message = {.type = type, .bytes = (uint32_t)strlen(text)};

    memcpy(add_message(buffer, &message), text, message.bytes);
}

void fs_kept_add_end(struct fs_kept_buffer *buffer, uint64_t left_out)
{
    const struct run_file_message message = {.type = RUN_FILE_END, .offset = left_out};

    add_message(buffer, &message);
}
