/* Damages the file system of a small FAT12 or FAT16 image, always alike for a seed.
 *
 *   mutate_fat SEED IN OUT
 *
 * A third of the seeds hit the boot sector, a third the chains of clusters (loops among them), a
 * third entries of directories: sizes, first clusters, attributes, names.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (4u << 20)
#define ENTRY_BYTES 32u

static uint8_t image[BYTES_MAX];
static size_t image_bytes;
static uint64_t state;

/* splitmix64 */
static uint64_t next(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15ull;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static size_t below(size_t limit)
{
    return (size_t)(next() % limit);
}

static uint32_t field(size_t offset, size_t bytes)
{
    uint32_t value = 0;

    memcpy(&value, image + offset, bytes);
    return value;
}

/* What software that counts gets wrong: nothing, one, almost too much, too much; or anything. */
static uint32_t odd_value(void)
{
    static const uint32_t values[] = {0, 1, 2, 3, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff};
    size_t which = below(sizeof values / sizeof values[0] + 3);

    return which < sizeof values / sizeof values[0] ? values[which] : (uint32_t)next();
}

static void put(size_t offset, size_t bytes)
{
    uint32_t value = odd_value();

    memcpy(image + offset, &value, bytes);
}

static void damage_boot_sector(void)
{
    static const struct {
        size_t offset, bytes;
    } fields[] = {{0, 1},  {11, 2}, {13, 1}, {14, 2}, {16, 1}, {17, 2}, {19, 2}, {21, 1},
                  {22, 2}, {32, 4}, {36, 4}, {44, 4}, {48, 2}, {54, 4}, {82, 4}, {510, 2}};

    for (size_t n = 1 + below(3); n > 0; n--) {
        size_t which = below(sizeof fields / sizeof fields[0]);

        put(fields[which].offset, fields[which].bytes);
    }
}

/* Both copies alike: a loop, an end, a place beyond the file system, another file's cluster. */
static void damage_chains(void)
{
    size_t start = (size_t)field(14, 2) * field(11, 2), bytes = (size_t)field(22, 2) * field(11, 2);

    for (size_t n = 1 + below(8); n > 0; n--) {
        size_t at = below(bytes < 128 ? bytes : 128); /* where there are files */
        uint8_t value = (uint8_t)(next() % 3 == 0 ? next() : below(64));

        for (size_t copy = 0; copy < field(16, 1); copy++)
            image[start + copy * bytes + at] = value;
    }
}

static int is_entry(const uint8_t *entry)
{
    return entry[0] > ' ' && entry[0] < 0x7f && (entry[11] == 0x10 || entry[11] == 0x20) &&
           entry[12] == 0;
}

static void damage_entries(void)
{
    static const struct {
        size_t offset, bytes;
    } fields[] = {{0, 1}, {1, 1}, {8, 1}, {11, 1}, {20, 2}, {26, 2}, {28, 4}};
    size_t found[256], count = 0;

    for (size_t at = 512; at + ENTRY_BYTES <= image_bytes && count < 256; at += ENTRY_BYTES)
        if (is_entry(image + at))
            found[count++] = at;
    for (size_t n = 1 + below(4); n > 0 && count > 0; n--) {
        size_t which = below(sizeof fields / sizeof fields[0]);

        put(found[below(count)] + fields[which].offset, fields[which].bytes);
    }
}

int main(int argc, char **argv)
{
    FILE *in = argc == 4 ? fopen(argv[2], "rb") : NULL;
    FILE *out = argc == 4 ? fopen(argv[3], "wb") : NULL;
    uint64_t seed = argc == 4 ? strtoull(argv[1], NULL, 10) : 0;

    if (in == NULL || out == NULL) {
        fputs("usage: mutate_fat SEED IN OUT\n", stderr);
        return 2;
    }
    state = seed;
    image_bytes = fread(image, 1, sizeof image, in);
    if (seed % 3 == 0)
        damage_boot_sector();
    else if (seed % 3 == 1)
        damage_chains();
    else
        damage_entries();
    fclose(in);
    return fwrite(image, 1, image_bytes, out) == image_bytes && fclose(out) == 0 ? 0 : 1;
}
