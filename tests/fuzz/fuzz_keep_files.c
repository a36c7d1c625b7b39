/* Fuzzes the files port: whatever comes, in whatever pieces, nothing appears outside the directory.
 * The first byte is the size of the pieces.
 */
#include <dirent.h>
#include <ftw.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "host/collector/keep_files.h"
#include "tests/fuzz/fuzz.h"

#define MEMORY_BYTES (1u << 20)

static char jail[] = "/tmp/fuzz_keep_files.XXXXXX";

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    return at->level == 0 ? 0 : remove(path);
}

static void remove_jail(void)
{
    (void)nftw(jail, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    (void)remove(jail);
}

/* Of the jail's entries all but "kept" would have come from outside of it. */
static bool is_tight(void)
{
    DIR *directory = opendir(jail);
    const struct dirent *entry;
    bool tight = true;

    fuzz_check(directory != NULL);
    while ((entry = readdir(directory)) != NULL)
        tight &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                 strcmp(entry->d_name, "kept") == 0;
    closedir(directory);
    return tight;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct keep_files k;
    static bool has_jail;
    char kept[sizeof jail + 8];
    size_t piece = size != 0 && data[0] != 0 ? data[0] : 1;

    if (!has_jail) {
        fuzz_check(mkdtemp(jail) != NULL);
        fuzz_check(atexit(remove_jail) == 0);
    }
    has_jail = true;
    snprintf(kept, sizeof kept, "%s/kept", jail);
    fuzz_check(keep_files_open(&k, kept, MEMORY_BYTES) == 0);
    for (size_t at = 1; at < size; at += piece)
        keep_files_take(&k, data + at, size - at < piece ? size - at : piece);
    fuzz_check(k.used <= sizeof k.buffer);
    fuzz_check(is_tight());
    keep_files_close(&k);
    (void)nftw(jail, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
