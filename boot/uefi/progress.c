/* Keeps a character for each run in a file whose length stays, so that it needs no room. */
#include "boot/uefi/progress.h"

#include "boot/uefi/say.h"
#include "lib/format.h"

#define REST_BYTES 4096u /* after the characters: words for people */

static const char *file_path;
static char *marks; /* of each run; NULL: there is no file */

static bool is_mark(char c)
{
    return c == BOOT_CONF_WAITS || c == BOOT_CONF_ENDED ||
           (c >= '1' && c <= '0' + (int)BOOT_CONF_STARTS_MAX);
}

bool progress_init(const char *path, uint32_t runs, char why[VOLUME_WHY_BYTES])
{
    struct volume_file file;

    if (path[0] == '\0')
        return true;
    if (!volume_read(path, (uint64_t)runs + REST_BYTES, &file, why))
        return false;
    file_path = path;
    marks = (char *)(uintptr_t)file.address;
    for (uint32_t i = 0; i < runs; i++) {
        if (i < file.bytes && is_mark(marks[i]))
            continue;
        format_text(why, VOLUME_WHY_BYTES,
                    "%s: run %u has no mark: write a '.' for each run, or take progress out of "
                    "microtome.conf",
                    path, i + 1);
        return false;
    }
    return true;
}

enum progress_state progress_state(uint32_t number)
{
    char mark = marks != NULL ? marks[number - 1] : BOOT_CONF_WAITS;

    if (mark == BOOT_CONF_ENDED)
        return PROGRESS_ENDED;
    return mark == '0' + (int)BOOT_CONF_STARTS_MAX ? PROGRESS_GIVEN_UP : PROGRESS_WAITS;
}

static void write_mark(uint32_t number, char mark)
{
    EFI_STATUS status;
    UINTN bytes = 1;
    EFI_FILE *file;

    if (marks == NULL)
        return;
    marks[number - 1] = mark;
    file = volume_file(file_path, 0, &status);
    if (file != NULL) {
        status = file->SetPosition(file, number - 1);
        if (!EFI_ERROR(status))
            status = file->Write(file, &bytes, &mark);
        if (!EFI_ERROR(status))
            status = file->Flush(file);
        file->Close(file);
    }
    if (EFI_ERROR(status))
        say_error("%s: %s: a stick that is started again repeats this run", file_path,
                  firmware_error(status));
}

void progress_starts(uint32_t number)
{
    char before = marks != NULL ? marks[number - 1] : BOOT_CONF_WAITS;

    write_mark(number, before == BOOT_CONF_WAITS ? '1' : (char)(before + 1));
}

void progress_ended(uint32_t number)
{
    write_mark(number, BOOT_CONF_ENDED);
}
