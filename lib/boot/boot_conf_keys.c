/* The keys of microtome.conf, and what each of them takes. */
#include "lib/boot/boot_conf_keys.h"

#define PART_BYTES_MIN (64ull << 10)

static const char *take_version(struct boot_conf_parser *, struct boot_text value)
{
    return boot_value_is(value, "1") ? NULL
                                     : " is not a version that this loader knows: write the stick "
                                       "anew with the same version of hr usb";
}

/* The file that kernel, archive and their like are about. */
static struct boot_conf_file *file_of(struct boot_conf_parser *p)
{
    return p->run != NULL ? &p->run->archive : &p->conf->kernel;
}

static const char not_a_path[] =
    " is not a path: write \\DIRECTORY\\FILE, at most 127 ASCII characters";

static const char *take_path(struct boot_conf_parser *p, struct boot_text value)
{
    struct boot_conf_file *file = file_of(p);

    file->line = p->line;
    return boot_value_path(value, file->path, sizeof file->path) ? NULL : not_a_path;
}

static const char *take_progress(struct boot_conf_parser *p, struct boot_text value)
{
    return boot_value_path(value, p->conf->progress, sizeof p->conf->progress) ? NULL : not_a_path;
}

static const char *take_bytes(struct boot_conf_parser *p, struct boot_text value)
{
    struct boot_conf_file *file = file_of(p);

    return boot_value_number(value, &file->bytes) && file->bytes > 0
               ? NULL
               : " is not a file's length: write a decimal number above 0";
}

static const char *take_crc32c(struct boot_conf_parser *p, struct boot_text value)
{
    return boot_value_hex32(value, &file_of(p)->crc32c)
               ? NULL
               : " is not a CRC32C: write 8 hexadecimal digits";
}

/* Returns the position of the value in a list that ends with NULL; -1: not there. */
static int choice(struct boot_text value, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++)
        if (boot_value_is(value, words[i]))
            return i;
    return -1;
}

static const char *take_output(struct boot_conf_parser *p, struct boot_text value)
{
    int chosen = choice(value, (const char *const[]){"stick", "network", NULL});

    p->conf->network = chosen == 1;
    return chosen < 0 ? " is no output: write stick or network" : NULL;
}

static const char *take_end(struct boot_conf_parser *p, struct boot_text value)
{
    int chosen = choice(value, (const char *const[]){"power-off", "reboot", "wait", NULL});

    p->conf->end = chosen < 0 ? BOOT_CONF_POWER_OFF : (uint32_t)chosen;
    return chosen < 0 ? " is no way to end: write power-off, reboot or wait" : NULL;
}

static const char *take_firmware(struct boot_conf_parser *p, struct boot_text value)
{
    int chosen = choice(value, (const char *const[]){"keep", "exit", NULL});

    p->conf->exit_firmware = chosen == 1;
    return chosen < 0 ? " is nothing to do with the firmware: write keep or exit" : NULL;
}

/* Takes a size between two limits. */
static bool take_size(struct boot_text value, bool all, uint64_t low, uint64_t high,
                      uint64_t *bytes)
{
    if (all && boot_value_is(value, "all")) {
        *bytes = BOOT_CONF_ALL;
        return true;
    }
    return boot_value_size(value, bytes) && *bytes >= low && *bytes <= high;
}

static const char *take_memory(struct boot_conf_parser *p, struct boot_text value)
{
    return take_size(value, true, BOOT_CONF_MEMORY_BYTES_MIN, BOOT_CONF_ALL - 1,
                     &p->conf->memory_bytes)
               ? NULL
               : " is no size for memory: write 32M or more, such as 1G, or all";
}

static const char *take_buffer(struct boot_conf_parser *p, struct boot_text value)
{
    return take_size(value, true, BOOT_CONF_BUFFER_BYTES_MIN, BOOT_CONF_ALL - 1,
                     &p->conf->buffer_bytes)
               ? NULL
               : " is no size for the buffer: write 1M or more, such as 512M, or all";
}

static const char *take_part(struct boot_conf_parser *p, struct boot_text value)
{
    return take_size(value, false, PART_BYTES_MIN, BOOT_CONF_PART_BYTES_MAX, &p->conf->part_bytes)
               ? NULL
               : " is no length for files: write 64K to 4095M";
}

static const char not_a_name[] =
    " is not a name: use letters, digits, -, _ and . (not first), at most 63 characters";

static const char *take_machine(struct boot_conf_parser *p, struct boot_text value)
{
    return boot_value_name(value, p->conf->machine, sizeof p->conf->machine) ? NULL : not_a_name;
}

static const char *take_collector(struct boot_conf_parser *p, struct boot_text value)
{
    return boot_value_ipv4_port(value, &p->conf->collector, &p->conf->port) && p->conf->collector
               ? NULL
               : " is not a collector: write its IPv4 address, such as 192.168.1.10 or "
                 "192.168.1.10:4817";
}

static const char *take_address(struct boot_conf_parser *p, struct boot_text value)
{
    if (boot_value_is(value, "dhcp"))
        return NULL;
    return boot_value_ipv4_bits(value, &p->conf->address, &p->conf->netmask) && p->conf->address
               ? NULL
               : " is not an address: write dhcp or an IPv4 address with its network's bits, such "
                 "as 192.168.1.20/24";
}

static const char *take_gateway(struct boot_conf_parser *p, struct boot_text value)
{
    return boot_value_ipv4(value, &p->conf->gateway) && p->conf->gateway
               ? NULL
               : " is not a gateway: write an IPv4 address, such as 192.168.1.1";
}

static const char *take_token(struct boot_conf_parser *p, struct boot_text value)
{
    return boot_value_text(value, p->conf->token, sizeof p->conf->token)
               ? NULL
               : " is not a token: write at most 63 ASCII characters";
}

static const char *take_name(struct boot_conf_parser *p, struct boot_text value)
{
    return boot_value_name(value, p->run->name, sizeof p->run->name) ? NULL : not_a_name;
}

static const char *take_repeat(struct boot_conf_parser *p, struct boot_text value)
{
    uint64_t repeat;

    if (!boot_value_number(value, &repeat) || repeat == 0 || repeat > BOOT_CONF_REPEAT_MAX)
        return " is no number of repetitions: write 1 to 10000";
    p->run->repeat = (uint32_t)repeat;
    return NULL;
}

static const char *take_timeout(struct boot_conf_parser *p, struct boot_text value)
{
    return boot_value_time(value, &p->run->timeout_ns) && p->run->timeout_ns
               ? NULL
               : " is not a time: write a number with its unit, such as 500ms, 30s, 10m or 2h";
}

const struct boot_conf_key boot_conf_keys[BOOT_CONF_KEYS] = {
    [KEY_VERSION] = {"version", take_version, false, true},
    [KEY_OUTPUT] = {"output", take_output, false, false},
    [KEY_FIRMWARE] = {"firmware", take_firmware, false, false},
    [KEY_COLLECTOR] = {"collector", take_collector, false, false},
    [KEY_ADDRESS] = {"address", take_address, false, false},
    [KEY_GATEWAY] = {"gateway", take_gateway, false, false},
    [KEY_PROGRESS] = {"progress", take_progress, false, false},
    {"kernel", take_path, false, true},
    {"kernel-bytes", take_bytes, false, true},
    {"kernel-crc32c", take_crc32c, false, true},
    {"end", take_end, false, false},
    {"memory", take_memory, false, false},
    {"buffer", take_buffer, false, false},
    {"part", take_part, false, false},
    {"machine", take_machine, false, false},
    {"token", take_token, false, false},
    {"archive", take_path, true, true},
    {"bytes", take_bytes, true, true},
    {"crc32c", take_crc32c, true, true},
    {"name", take_name, true, false},
    {"repeat", take_repeat, true, false},
    {"timeout", take_timeout, true, false},
};
