/* Finds and creates the directories of runs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/collect/stream_place.h"

#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#define NUMBER_MAX 999999999ul
#define TRIES 1000 /* while others create directories of that name */
#define ID_BYTES 32 /* of an id in hexadecimal */
#define MARK_BYTES (RUN_STREAM_NAME_BYTES + 16 + ID_BYTES) /* of a mark's name */

/* Next to "RUN-N" is an empty file ".RUN-N.ID", so that the machine's directory alone tells which
 * run has an id. */
static void mark_name(char name[MARK_BYTES], const struct run_hello *hello, unsigned long number)
{
    int bytes = snprintf(name, MARK_BYTES, ".%s-%lu.", hello->run, number);

    for (size_t i = 0; i < sizeof hello->id; i++)
        bytes += snprintf(name + bytes, MARK_BYTES - (size_t)bytes, "%02x", hello->id[i]);
}

static void entry_name(char name[MARK_BYTES], const struct run_hello *hello, unsigned long number)
{
    snprintf(name, MARK_BYTES, "%s-%lu", hello->run, number);
}

/* Returns the N of "RUN-N" and what follows it; 0 if the entry does not belong to this run's name.
 */
static unsigned long number_of(const char *entry, const char *run, char **end)
{
    size_t bytes = strlen(run);
    unsigned long number;

    if (strncmp(entry, run, bytes) != 0 || entry[bytes] != '-' || entry[bytes + 1] < '1' ||
        entry[bytes + 1] > '9')
        return 0;
    number = strtoul(entry + bytes + 1, end, 10);
    return number <= NUMBER_MAX ? number : 0;
}

/* Opens the run if it has that id.  Returns 1 if so, 0 if not, or -errno. */
static int try_entry(struct run_place *p, int machine, const char *entry, const uint8_t id[16])
{
    int fd = openat(machine, entry, OPEN_DIRECTORY | O_NOFOLLOW);

    if (fd < 0)
        return errno == ENOTDIR || errno == ENOENT || errno == ELOOP ? 0 : -errno;
    if (stream_state_read(fd, &p->state) == 0 && memcmp(p->state.id, id, sizeof p->state.id) == 0) {
        p->directory = fd;
        return 1;
    }
    close(fd);
    return 0;
}

/* Returns the run's number if it exists, otherwise 0 and the highest number in use; or -errno. */
static long find(struct run_place *p, int machine, const struct run_hello *hello,
                 unsigned long *highest)
{
    int copy = openat(machine, ".", OPEN_DIRECTORY);
    DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    long result = 0;

    *highest = 0;
    if (directory == NULL) {
        result = -errno;
        if (copy >= 0)
            close(copy);
        return result;
    }
    while (result == 0 && (entry = readdir(directory)) != NULL) {
        bool is_mark = entry->d_name[0] == '.';
        char *end;
        unsigned long number = number_of(entry->d_name + is_mark, hello->run, &end);
        char name[MARK_BYTES];

        if (number == 0)
            continue;
        if (!is_mark && *end == 0 && number > *highest)
            *highest = number;
        mark_name(name, hello, number);
        if (!is_mark || strcmp(entry->d_name, name) != 0)
            continue;
        entry_name(name, hello, number);
        result = try_entry(p, machine, name, hello->id);
        if (result == 1)
            result = (long)number;
    }
    closedir(directory);
    return result;
}

/* The mark comes first, so that every run with a state can be found. */
static int start(struct run_place *p, int machine, const char *name, const char *mark,
                 const uint8_t id[16])
{
    int fd = openat(machine, mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    int result = 0;

    if (fd < 0 || fsync(machine) != 0)
        result = -errno;
    if (fd >= 0)
        close(fd);
    p->directory = result == 0 ? openat(machine, name, OPEN_DIRECTORY | O_NOFOLLOW) : -1;
    p->state = (struct run_state){.created_s = (uint64_t)time(NULL)};
    memcpy(p->state.id, id, sizeof p->state.id);
    if (result == 0)
        result = p->directory >= 0 ? stream_state_write(p->directory, &p->state) : -errno;
    if (result == 0)
        return 0;
    stream_place_close(p);
    (void)unlinkat(machine, name, AT_REMOVEDIR);
    (void)unlinkat(machine, mark, 0);
    return result;
}

/* Creates the directory with the next free number.  Returns the number or -errno. */
static long make(struct run_place *p, int machine, const struct run_hello *hello,
                 unsigned long highest)
{
    char name[MARK_BYTES], mark[MARK_BYTES];

    for (unsigned long number = highest + 1; number <= highest + TRIES; number++) {
        entry_name(name, hello, number);
        mark_name(mark, hello, number);
        if (mkdirat(machine, name, 0777) == 0) {
            int result = start(p, machine, name, mark, hello->id);

            return result == 0 ? (long)number : result;
        }
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

static int make_directory(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : -errno;
}

int stream_place_open(struct run_place *place, const char *root, const struct run_hello *hello)
{
    int bytes = snprintf(place->path, sizeof place->path, "%s/%s", root, hello->machine);
    unsigned long highest;
    int machine;
    long number;

    place->directory = -1;
    if (bytes < 0 || (size_t)bytes + RUN_STREAM_NAME_BYTES + 16 >= sizeof place->path)
        return -ENAMETOOLONG;
    place->name = strlen(root) + 1;
    if (make_directory(root) != 0 || make_directory(place->path) != 0)
        return -errno;
    machine = open(place->path, OPEN_DIRECTORY);
    if (machine < 0)
        return -errno;
    number = find(place, machine, hello, &highest);
    place->is_new = number == 0;
    if (number == 0)
        number = make(place, machine, hello, highest);
    close(machine);
    if (number < 0)
        return (int)number;
    snprintf(place->path + bytes, sizeof place->path - (size_t)bytes, "/%s-%ld", hello->run,
             number);
    return 0;
}

void stream_place_close(struct run_place *place)
{
    if (place->directory >= 0)
        close(place->directory);
    place->directory = -1;
}
