/* Writes files of results, in parts. */
#include "boot/uefi/results_file.h"

#include <string.h>

#include "boot/uefi/volume.h"
#include "lib/crc32c.h"
#include "lib/format.h"

#define LINE_BYTES_MAX 80 /* "file = NAME BYTES CRC32C", or "cut = ..." */
#define PIECE_BYTES_MIN 512

size_t results_file_list_bytes(uint64_t bytes, uint64_t part_bytes)
{
    return (size_t)(bytes / part_bytes + 2) * LINE_BYTES_MAX;
}

/* If a file system has no room for everything, it may have room for half: this fills the stick. */
uint64_t results_file_write(EFI_FILE *file, const void *bytes, uint64_t count, EFI_STATUS *status)
{
    uint64_t piece = count, done = 0, start = 0;

    file->GetPosition(file, &start);
    *status = EFI_SUCCESS;
    while (done < count) {
        UINTN now = count - done < piece ? count - done : piece;
        UINTN asked = now;

        *status = file->Write(file, &now, (uint8_t *)(uintptr_t)bytes + done);
        if (!EFI_ERROR(*status) && now == asked) {
            done += now;
            continue;
        }
        if (!EFI_ERROR(*status))
            *status = EFI_VOLUME_FULL;
        if (*status != EFI_VOLUME_FULL || piece <= PIECE_BYTES_MIN)
            break;
        piece /= 2;
        file->SetPosition(file, start + done);
    }
    if (done == count)
        *status = EFI_SUCCESS;
    else
        volume_resize(file, start + done);
    return done;
}

static void list_line(struct results_list *list, const char *line)
{
    size_t bytes = strlen(line);

    if (bytes > list->room - list->bytes)
        return;
    memcpy(list->text + list->bytes, line, bytes);
    list->bytes += bytes;
}

static void part_name(const struct results_file *f, char *out, size_t room)
{
    if (f->part == 0)
        format_text(out, room, "%s", f->name);
    else
        format_text(out, room, "%s.%u", f->name, f->part);
}

static void close_part(struct results_file *f)
{
    char name[32], line[LINE_BYTES_MAX + 1];
    EFI_STATUS status;

    if (f->file == NULL)
        return;
    status = f->file->Flush(f->file); /* Close flushes, too, but never reports a failure */
    if (EFI_ERROR(status) && !EFI_ERROR(f->status))
        f->status = status;
    f->file->Close(f->file);
    f->file = NULL;
    part_name(f, name, sizeof name);
    format_text(line, sizeof line, "file = %s %lu %08x\n", name, f->part_used, f->crc);
    list_line(f->list, line);
    f->part++;
}

static bool open_part(struct results_file *f)
{
    char name[32], path[RESULTS_PATH_BYTES + 32];

    part_name(f, name, sizeof name);
    format_text(path, sizeof path, "%s\\%s", f->directory, name);
    f->file = volume_file(path, VOLUME_CREATE, &f->status);
    f->part_used = 0;
    f->crc = 0;
    return f->file != NULL;
}

/* Writes the buffer; after a failure further bytes are only counted. */
static void flush(struct results_file *f)
{
    size_t at = 0;

    while (at < f->buffered && !EFI_ERROR(f->status)) {
        uint64_t now = f->buffered - at, done;

        if (f->file != NULL && f->part_used == f->part_bytes)
            close_part(f);
        if (f->file == NULL && !open_part(f))
            break;
        if (now > f->part_bytes - f->part_used)
            now = f->part_bytes - f->part_used;
        done = results_file_write(f->file, f->buffer + at, now, &f->status);
        f->crc = crc32c(f->crc, f->buffer + at, done);
        f->part_used += done;
        f->done += done;
        at += done;
    }
    f->cut += f->buffered - at;
    f->buffered = 0;
    f->written(f->done);
}

void results_file_begin(struct results_file *f, const char *name)
{
    f->name = name;
    f->file = NULL;
    f->part = 0;
    f->buffered = 0;
    f->done = 0;
    f->cut = 0;
    f->status = EFI_SUCCESS;
    open_part(f);
}

void results_file_put(struct results_file *f, const void *bytes, uint64_t count)
{
    const uint8_t *from = bytes;

    while (count > 0) {
        uint64_t now = RESULTS_BUFFER_BYTES - f->buffered;

        if (now > count)
            now = count;
        memcpy(f->buffer + f->buffered, from, now);
        f->buffered += now;
        from += now;
        count -= now;
        if (f->buffered == RESULTS_BUFFER_BYTES)
            flush(f);
    }
}

void results_file_end(struct results_file *f)
{
    char line[LINE_BYTES_MAX + 1];

    flush(f);
    close_part(f);
    if (f->cut == 0 && !EFI_ERROR(f->status))
        return;
    format_text(line, sizeof line, "cut = %s %lu\n", f->name, f->cut);
    list_line(f->list, line);
}
