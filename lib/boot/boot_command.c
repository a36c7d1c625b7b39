/* Parses the kernel's command line.  The last word with a key counts. */
#include "lib/boot/boot_command.h"

#include <string.h>

#include "include/run_stream.h"
#include "lib/array.h"
#include "lib/boot/boot_value.h"
#include "lib/bytes.h"

struct target {
    struct boot_info *boot;
    uint64_t *buffer_bytes;
};

static void take_output(struct target *t, struct boot_text value)
{
    if (boot_value_is(value, "network"))
        t->boot->output = BOOT_OUTPUT_TCP;
}

static void take_collector(struct target *t, struct boot_text value)
{
    struct boot_network *n = &t->boot->network;

    n->collector = 0;
    boot_value_ipv4_port(value, &n->collector, &n->port);
}

static void take_address(struct target *t, struct boot_text value)
{
    struct boot_network *n = &t->boot->network;

    n->address = 0;
    boot_value_ipv4_bits(value, &n->address, &n->netmask); /* "dhcp": none */
}

static void take_gateway(struct target *t, struct boot_text value)
{
    t->boot->network.gateway = 0;
    boot_value_ipv4(value, &t->boot->network.gateway);
}

static void take_token(struct target *t, struct boot_text value)
{
    t->boot->network.token[0] = 0;
    boot_value_text(value, t->boot->network.token, sizeof t->boot->network.token);
}

static void take_machine(struct target *t, struct boot_text value)
{
    t->boot->network.machine[0] = 0;
    boot_value_name(value, t->boot->network.machine, sizeof t->boot->network.machine);
}

static void take_run(struct target *t, struct boot_text value)
{
    t->boot->network.run[0] = 0;
    boot_value_name(value, t->boot->network.run, sizeof t->boot->network.run);
}

static void take_id(struct target *t, struct boot_text value)
{
    uint32_t id;

    if (boot_value_hex32(value, &id))
        bytes_store32(t->boot->network.id, id);
}

static void take_buffer(struct target *t, struct boot_text value)
{
    *t->buffer_bytes = 0;
    boot_value_size(value, t->buffer_bytes);
}

static const struct {
    const char *name;
    void (*take)(struct target *t, struct boot_text value);
} keys[] = {
    {"output", take_output},   {"collector", take_collector},
    {"address", take_address}, {"gateway", take_gateway},
    {"token", take_token},     {"machine", take_machine},
    {"run", take_run},         {"id", take_id},
    {"buffer", take_buffer},
};

static void take_word(struct target *t, const char *word, const char *end)
{
    const char *equals = memchr(word, '=', (size_t)(end - word));
    struct boot_text name, value;

    if (equals == NULL)
        return;
    name = (struct boot_text){word, (size_t)(equals - word)};
    value = (struct boot_text){equals + 1, (size_t)(end - equals - 1)};
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
        if (boot_value_is(name, keys[i].name))
            keys[i].take(t, value);
}

void boot_command_parse(struct boot_info *boot, uint64_t *buffer_bytes)
{
    struct target target = {boot, buffer_bytes};
    const char *at = boot->command_line;

    *buffer_bytes = 0;
    boot->network.port = RUN_STREAM_PORT;
    for (;;) {
        const char *end;

        while (*at == ' ')
            at++;
        if (!*at)
            return;
        end = at;
        while (*end && *end != ' ')
            end++;
        take_word(&target, at, end);
        at = end;
    }
}
