/* Parses the options of hr usb that go into microtome.conf. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/option.h"
#include "host/base/units.h"
#include "host/collect/stream_token.h"
#include "host/options/options_archive.h"
#include "host/usb/usb_options_conf.h"
#include "include/run_stream.h"

_Static_assert(sizeof((struct boot_conf *)0)->token == RUN_STREAM_NAME_BYTES, "one token for both");

enum { /* options without a letter */
       KEY_REPEAT = 320,
       KEY_AT_END,
       KEY_BUFFER,
       KEY_NETWORK,
       KEY_ADDRESS,
       KEY_GATEWAY,
       KEY_TOKEN,
       KEY_MACHINE,
       KEY_FIRMWARE,
       KEY_TIMEOUT,
       KEY_RESUMABLE,
};

static const struct argp_option conf_options[] = {
    {"timeout", KEY_TIMEOUT, "TIME", 0, "end each run after so long", 4},
    {"repeat", KEY_REPEAT, "N", 0, "do each run N times (default 1, at most 10000)", 4},
    {"resumable", KEY_RESUMABLE, 0, 0,
     "a machine that is reset, or started again, continues with what has not ended", 4},
    {"at-end", KEY_AT_END, "WHAT", 0, "after the last run: power-off (default), reboot or wait", 4},
    {"buffer", KEY_BUFFER, "SIZE", 0,
     "memory for the trace until it is written (default: all that is left)", 4},
    {"firmware", KEY_FIRMWARE, "WHAT", 0,
     "keep (default), or exit for machines that cannot return to it; then only with --network", 4},
    {"machine", KEY_MACHINE, "NAME", 0, "name of the machine in its results (default: its own)", 4},
    {"network", KEY_NETWORK, "ADDRESS[:PORT]", 0, "send results to hr collect there", 4},
    {"address", KEY_ADDRESS, "A/BITS", 0, "the machine's own address (default: DHCP)", 4},
    {"gateway", KEY_GATEWAY, "ADDRESS", 0, "with --address: the way to other networks", 4},
    {"token", KEY_TOKEN, "FILE", 0, "what the collector wants to be told (default: HR_TOKEN)", 4},
    {0},
};

int usb_options_set_size(const char *option, const char *text, uint64_t *bytes,
                         struct run_failure *failure)
{
    if (units_parse_bytes(text, bytes) != 0 || *bytes == 0)
        return run_fail(failure, "--%s %s: not a size; write 64M or 2G", option, text);
    return 0;
}

static int set_repeat(struct usb_options *o, const char *text, struct run_failure *failure)
{
    if (option_number(text, 1, BOOT_CONF_REPEAT_MAX, &o->repeat) == 0)
        return 0;
    return run_fail(failure, "--repeat %s: not a number from 1 to %u", text, BOOT_CONF_REPEAT_MAX);
}

/* The limit does not go into the archive, where it would outlive its removal from microtome.conf.
 */
static int set_timeout(struct usb_options *o, const char *text, struct run_failure *failure)
{
    struct options parsed = {0};

    if (options_set_timeout(&parsed, text, failure) != 0)
        return -1;
    o->timeout_ns = parsed.timeout_ns;
    return 0;
}

/* Stores the position of a text in a list of words. */
static int set_word(const char *option, const char *text, const char *const *words, uint32_t *value,
                    struct run_failure *failure)
{
    char list[128] = "";

    for (uint32_t i = 0; words[i] != NULL; i++) {
        size_t used = strlen(list);

        if (strcmp(words[i], text) == 0) {
            *value = i;
            return 0;
        }
        snprintf(list + used, sizeof list - used, "%s%s",
                 i == 0                 ? ""
                 : words[i + 1] == NULL ? " or "
                                        : ", ",
                 words[i]);
    }
    return run_fail(failure, "--%s %s: unknown; use %s", option, text, list);
}

static int set_collector(struct boot_conf *conf, const char *text, struct run_failure *failure)
{
    char address[INET_ADDRSTRLEN];
    const char *colon = strchr(text, ':');
    size_t bytes = colon != NULL ? (size_t)(colon - text) : strlen(text);
    unsigned long port = RUN_STREAM_PORT;
    char *end = NULL;

    if (colon != NULL)
        port = strtoul(colon + 1, &end, 10);
    snprintf(address, sizeof address, "%.*s", (int)bytes, text);
    if (bytes >= sizeof address || inet_pton(AF_INET, address, &conf->collector) != 1 ||
        conf->collector == 0 || port == 0 || port > UINT16_MAX ||
        (colon != NULL && (colon[1] < '0' || colon[1] > '9' || *end != 0)))
        return run_fail(failure,
                        "--network %s: not the IPv4 address of a collector, such as 192.168.1.2 or "
                        "192.168.1.2:%u; a stick cannot look up names",
                        text, RUN_STREAM_PORT);
    conf->port = (uint16_t)port;
    conf->network = 1;
    return 0;
}

static int set_address(struct boot_conf *conf, const char *text, struct run_failure *failure)
{
    char address[INET_ADDRSTRLEN];
    size_t bytes = strcspn(text, "/");
    unsigned long bits = 0;
    char *end = NULL;

    if (strcmp(text, "dhcp") == 0)
        return 0;
    if (text[bytes] == '/')
        bits = strtoul(text + bytes + 1, &end, 10);
    snprintf(address, sizeof address, "%.*s", (int)bytes, text);
    if (bytes >= sizeof address || inet_pton(AF_INET, address, &conf->address) != 1 ||
        conf->address == 0 || bits == 0 || bits > 30 || *end != 0)
        return run_fail(failure,
                        "--address %s: neither dhcp nor an IPv4 address with the bits of its "
                        "network, such as 192.168.1.50/24",
                        text);
    conf->netmask = htonl(UINT32_MAX << (32 - bits));
    return 0;
}

static int set_gateway(struct boot_conf *conf, const char *text, struct run_failure *failure)
{
    if (inet_pton(AF_INET, text, &conf->gateway) != 1 || conf->gateway == 0)
        return run_fail(failure, "--gateway %s: not an IPv4 address", text);
    return 0;
}

static int set_machine(struct boot_conf *conf, const char *text, struct run_failure *failure)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";

    if (text[0] == 0 || text[0] == '.' || text[strspn(text, letters)] != 0 ||
        strlen(text) >= sizeof conf->machine)
        return run_fail(failure,
                        "--machine %s: not a name of at most %zu letters, digits, '-', '_' and '.'",
                        text, sizeof conf->machine - 1);
    snprintf(conf->machine, sizeof conf->machine, "%s", text);
    return 0;
}

static error_t parse_conf_option(int key, char *argument, struct argp_state *state)
{
    static const char *const ends[] = {"power-off", "reboot", "wait", NULL};
    static const char *const firmware[] = {"keep", "exit", NULL};
    struct usb_options *o = state->input;
    struct boot_conf *conf = &o->conf;
    struct run_failure *failure = o->failure;

    switch (key) {
    case KEY_TIMEOUT:
        return set_timeout(o, argument, failure) == 0 ? 0 : EINVAL;
    case KEY_REPEAT:
        return set_repeat(o, argument, failure) == 0 ? 0 : EINVAL;
    case KEY_RESUMABLE:
        o->resumable = true;
        return 0;
    case KEY_AT_END:
        return set_word("at-end", argument, ends, &conf->end, failure) == 0 ? 0 : EINVAL;
    case KEY_FIRMWARE:
        return set_word("firmware", argument, firmware, &conf->exit_firmware, failure) == 0
                   ? 0
                   : EINVAL;
    case KEY_BUFFER:
        return usb_options_set_size("buffer", argument, &conf->buffer_bytes, failure) == 0 ? 0
                                                                                           : EINVAL;
    case KEY_NETWORK:
        return set_collector(conf, argument, failure) == 0 ? 0 : EINVAL;
    case KEY_ADDRESS:
        return set_address(conf, argument, failure) == 0 ? 0 : EINVAL;
    case KEY_GATEWAY:
        return set_gateway(conf, argument, failure) == 0 ? 0 : EINVAL;
    case KEY_TOKEN:
        return stream_token_read(conf->token, argument, failure) == 0 ? 0 : EINVAL;
    case KEY_MACHINE:
        return set_machine(conf, argument, failure) == 0 ? 0 : EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp usb_options_conf_argp = {.options = conf_options, .parser = parse_conf_option};

int usb_options_finish_conf(struct usb_options *o)
{
    struct boot_conf *conf = &o->conf;
    const char *token = getenv("HR_TOKEN");
    const char *alone = conf->address != 0    ? "address"
                        : conf->gateway != 0  ? "gateway"
                        : conf->token[0] != 0 ? "token"
                        : conf->exit_firmware ? "firmware exit"
                                              : NULL;

    if (!conf->network && alone != NULL)
        return run_fail(o->failure,
                        "--%s is for results that go over the network; add --network ADDRESS",
                        alone);
    if (o->resumable && conf->exit_firmware)
        return run_fail(o->failure, "--resumable: after --firmware exit nothing can write to the "
                                    "stick; leave one of them out");
    if (conf->gateway != 0 && conf->address == 0)
        return run_fail(o->failure,
                        "--gateway: DHCP finds it; add --address A/BITS, or leave --gateway out");
    if (conf->network && conf->token[0] == 0 && token != NULL && token[0] != 0)
        return stream_token_read(conf->token, NULL, o->failure);
    return 0;
}
