/* Fuzzes what a run of a sweep brings from another machine. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/remote/remote_parcel.h"
#include "tests/fuzz/fuzz.h"

static char folder[] = "/tmp/fuzz_remote_parcel.XXXXXX";
static char paths[REMOTE_PARTS + 1][sizeof folder + 8];

static void remove_folder(void)
{
    for (size_t i = 0; i <= REMOTE_PARTS; i++)
        (void)unlink(paths[i]);
    (void)rmdir(folder);
}

static void begin(void)
{
    fuzz_check(mkdtemp(folder) != NULL);
    for (size_t i = 0; i <= REMOTE_PARTS; i++)
        (void)snprintf(paths[i], sizeof paths[i], "%s/%zu", folder, i);
    fuzz_check(atexit(remove_folder) == 0);
}

static void check_text(const char *text, size_t room)
{
    fuzz_check(memchr(text, 0, room) != NULL);
    fuzz_check(strpbrk(text, ",\"\n\033") == NULL);
}

/* The parts are the end of the file. */
static void check(const struct remote_parcel *p, size_t size)
{
    uint64_t all = 0;

    check_text(p->host, sizeof p->host);
    check_text(p->kernel, sizeof p->kernel);
    check_text(p->processor, sizeof p->processor);
    for (size_t i = 0; i < REMOTE_PARTS; i++) {
        FILE *part = fopen(paths[i], "re");

        fuzz_check(part != NULL && fseek(part, 0, SEEK_END) == 0 &&
                   (uint64_t)ftell(part) == p->sizes[i] && fclose(part) == 0);
        all += p->sizes[i];
    }
    fuzz_check(all < size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const parts[REMOTE_PARTS] = {paths[0], paths[1], paths[2]};
    struct run_failure failure = {0};
    struct remote_parcel parcel;
    FILE *file;

    if (paths[0][0] == 0)
        begin();
    file = fopen(paths[REMOTE_PARTS], "we");
    fuzz_check(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    if (remote_parcel_read(&parcel, paths[REMOTE_PARTS], parts, &failure) == 0)
        check(&parcel, size);
    else
        fuzz_check(failure.text[0] != 0);
    return 0;
}
