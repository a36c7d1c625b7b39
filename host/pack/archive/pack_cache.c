/* Keeps parts of archives between runs. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/cache.h"
#include "host/pack/archive/pack_cache.h"
#include "lib/hash.h"

#define MAGIC 0x3170747265726331ull /* includes the version */
#define ALIGNMENT 4096u
#define PREFIX "part-"

struct header { /* of a kept part; the key follows, then the part on a multiple of ALIGNMENT */
    uint64_t magic;
    uint64_t key_bytes;
    uint64_t part_bytes;
};

static uint64_t part_offset(size_t key_bytes)
{
    return (sizeof(struct header) + key_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void pack_cache_open(struct pack_cache *c, const void *key, size_t key_bytes)
{
    char path[PATH_MAX];

    *c = (struct pack_cache){
        .directory = cache_open(true, path), .key = key, .key_bytes = key_bytes};
    snprintf(c->name, sizeof c->name, PREFIX "%016lx",
             hash_bytes(HASH_BYTES_START, key, key_bytes));
}

void pack_cache_close(struct pack_cache *c)
{
    if (c->directory >= 0)
        close(c->directory);
    c->directory = -1;
}

/* Returns whether a file is complete, belongs to us, and has our key. */
static bool is_ours(const struct pack_cache *c, int fd, struct header *header)
{
    uint64_t offset = part_offset(c->key_bytes);
    struct stat status;
    void *file;
    bool same;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        pread(fd, header, sizeof *header, 0) != sizeof *header || header->magic != MAGIC ||
        header->key_bytes != c->key_bytes || header->part_bytes == 0 ||
        header->part_bytes > PACK_CACHE_PART_BYTES_MAX ||
        (uint64_t)status.st_size != offset + header->part_bytes)
        return false;
    file = mmap(NULL, offset, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED)
        return false;
    same = memcmp((const char *)file + sizeof *header, c->key, c->key_bytes) == 0;
    munmap(file, offset);
    return same;
}

int64_t pack_cache_copy(const struct pack_cache *c, int to)
{
    struct header header;
    int64_t result = 0;
    int fd;

    if (c->directory < 0)
        return 0;
    fd = openat(c->directory, c->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (is_ours(c, fd, &header)) {
        int error = cache_copy(fd, part_offset(c->key_bytes), header.part_bytes, to);

        result = error != 0 ? error : (int64_t)header.part_bytes;
        (void)futimens(fd, NULL); /* the least recently used files are removed first */
    }
    close(fd);
    return result;
}

static bool write_key(const struct pack_cache *c, int fd, uint64_t part_bytes)
{
    const struct header header = {MAGIC, c->key_bytes, part_bytes};

    return write(fd, &header, sizeof header) == sizeof header &&
           write(fd, c->key, c->key_bytes) == (ssize_t)c->key_bytes &&
           lseek(fd, (off_t)part_offset(c->key_bytes), SEEK_SET) >= 0;
}

void pack_cache_keep(const struct pack_cache *c, int from, uint64_t offset, uint64_t bytes)
{
    char temporary[64];
    bool done;
    int fd;

    if (c->directory < 0 || bytes > PACK_CACHE_PART_BYTES_MAX)
        return;
    snprintf(temporary, sizeof temporary, PREFIX "new-%d", (int)getpid());
    (void)unlinkat(c->directory, temporary, 0); /* left by an hr that died and had our number */
    fd = openat(c->directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    done = write_key(c, fd, bytes) && cache_copy(from, offset, bytes, fd) == 0;
    done = close(fd) == 0 && done;
    if (!done || renameat(c->directory, temporary, c->directory, c->name) != 0)
        (void)unlinkat(c->directory, temporary, 0);
    cache_evict(c->directory, PREFIX, c->name, PACK_CACHE_BYTES_MAX);
}
