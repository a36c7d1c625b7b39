/* Writes microtome.conf, which people read, too. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/usb/usb_conf.h"
#include "include/version.h"

static const char introduction[] =
    "# What this stick does. Written by hr usb (Microtome " VERSION_TEXT "); edit it as you like.\n"
    "# Lines are KEY = VALUE, '#' starts a comment, [run] starts a run, and runs are done in this\n"
    "# order. SIZE takes K, M, G or all; TIME takes ns, us, ms, s, m, h.\n"
    "\n"
    "version = 1\n";

static void write_size(FILE *out, const char *key, uint64_t bytes, const char *comment)
{
    if (bytes == BOOT_CONF_ALL)
        fprintf(out, "%s = all", key);
    else if (bytes % (1u << 20) == 0)
        fprintf(out, "%s = %" PRIu64 "M", key, bytes >> 20);
    else
        fprintf(out, "%s = %" PRIu64, key, bytes);
    fprintf(out, "%s%s\n", comment[0] != 0 ? "    # " : "", comment);
}

static const char *address_text(uint32_t address, char text[INET_ADDRSTRLEN])
{
    return inet_ntop(AF_INET, &address, text, INET_ADDRSTRLEN);
}

static void write_network(FILE *out, const struct boot_conf *conf)
{
    char text[INET_ADDRSTRLEN];

    fprintf(out, "\n# Where hr collect --listen tcp: waits.\ncollector = %s:%u\n",
            address_text(conf->collector, text), conf->port);
    if (conf->address == 0)
        fprintf(out, "address = dhcp    # or ADDRESS/BITS\n");
    else
        fprintf(out, "address = %s/%d\n", address_text(conf->address, text),
                __builtin_popcount(conf->netmask));
    if (conf->gateway != 0)
        fprintf(out, "gateway = %s\n", address_text(conf->gateway, text));
    if (conf->token[0] != 0)
        fprintf(out, "token = %s\n", conf->token);
}

static void write_head(FILE *out, const struct usb_contents *c, const struct usb_options *o)
{
    const struct boot_conf *conf = &o->conf;
    static const char *const ends[] = {"power-off", "reboot", "wait"};

    fputs(introduction, out);
    fprintf(out, "kernel = %s\nkernel-bytes = %" PRIu64 "\nkernel-crc32c = %08" PRIx32 "\n",
            USB_PATH_KERNEL, c->kernel.bytes, c->kernel.crc32c);
    fprintf(out, "\noutput = %s    # stick or network\n", conf->network ? "network" : "stick");
    fprintf(out, "end = %s    # after the last run: power-off, reboot or wait\n", ends[conf->end]);
    fprintf(out, "firmware = %s    # keep, or exit (network only)\n",
            conf->exit_firmware ? "exit" : "keep");
    if (conf->memory_bytes == BOOT_CONF_USUAL)
        fprintf(out, "# memory = SIZE    # the kernel's and the program's; 1G, or half of what a "
                     "smaller machine has\n");
    else
        write_size(out, "memory", conf->memory_bytes, "the kernel's and the program's");
    write_size(out, "buffer", conf->buffer_bytes, "the trace's, until it is written");
    write_size(out, "part", conf->part_bytes, "longer files are written in parts");
    if (conf->machine[0] != 0)
        fprintf(out, "machine = %s\n", conf->machine);
    else
        fprintf(out, "# machine = NAME    # in the results; otherwise the machine's own\n");
    if (o->resumable)
        fprintf(out, "progress = " USB_PATH_PROGRESS "    # which runs ended\n");
    if (conf->network)
        write_network(out, conf);
}

static void write_run(FILE *out, const struct usb_file *run, const struct usb_options *o)
{
    size_t name_bytes = strlen(run->name) - strlen(".cpio");

    fprintf(out, "\n[run]\nname = %.*s\narchive = %s%s\n", (int)name_bytes, run->name,
            USB_PATH_RUNS, run->name);
    fprintf(out, "bytes = %" PRIu64 "\ncrc32c = %08" PRIx32 "\nrepeat = %" PRIu64 "\n", run->bytes,
            run->crc32c, o->repeat);
    if (o->timeout_ns != 0)
        fprintf(out, "timeout = %" PRIu64 "ns\n", o->timeout_ns);
    else
        fprintf(out,
                "# timeout = 60s    # default: the archive's (hr pack --timeout), else none\n");
}

/* Checks that the loader will understand the text. */
static int check(const char *text, size_t bytes, const struct usb_contents *c,
                 struct run_failure *failure)
{
    struct boot_conf_error error;
    struct boot_conf *conf = malloc(sizeof *conf);
    int result;

    if (conf == NULL)
        return run_fail(failure, "out of memory; end other programs");
    result = boot_conf_parse(text, bytes, conf, &error);
    if (result != 0)
        run_fail(failure, "microtome.conf, line %u: %s", error.line, error.text);
    else if (conf->run_count != c->run_count)
        result = run_fail(failure, "microtome.conf: %u runs instead of %zu", conf->run_count,
                          c->run_count);
    free(conf);
    return result;
}

char *usb_conf_progress(const struct usb_contents *c, const struct usb_options *o)
{
    static const char legend[] =
        "\n\nA character for each run, in their order: . waits, + ended, 1 to 3 "
        "was started so often and\ndid not end. After the third time it is left out; write a . in "
        "its place to repeat it.\n";
    size_t runs = c->run_count * o->repeat;
    char *text = malloc(runs + sizeof legend);

    if (text == NULL)
        return NULL;
    memset(text, BOOT_CONF_WAITS, runs);
    if (o->marks != NULL)
        memcpy(text, o->marks, strnlen(o->marks, runs));
    memcpy(text + runs, legend, sizeof legend);
    return text;
}

char *usb_conf_write(const struct usb_contents *c, const struct usb_options *o,
                     struct run_failure *failure)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (out != NULL) {
        write_head(out, c, o);
        for (size_t i = 0; i < c->run_count; i++)
            write_run(out, &c->runs[i], o);
    }
    if (out == NULL || fclose(out) != 0) {
        run_fail(failure, "out of memory; end other programs");
        free(text);
        return NULL;
    }
    if (check(text, bytes, c, failure) == 0)
        return text;
    free(text);
    return NULL;
}
