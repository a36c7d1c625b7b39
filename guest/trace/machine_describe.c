/* Says what the machine is: processor, caches, topology, firmware, memory. */
#include <string.h>

#include "drivers/processor/caches.h"
#include "drivers/processor/processor.h"
#include "drivers/processor/topology.h"
#include "drivers/smbios/smbios.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/base/text.h"
#include "guest/cpu/proc_flags.h"
#include "guest/memory/phys.h"
#include "guest/trace/machine.h"

#define TEXT_BYTES 256
#define FLAGS_BYTES 4096
#define LIST_BYTES 1024
#define CACHES_MAX 8

struct speaker {
    machine_say *say;
    void *context;
};

/* Omits what is not known. */
static void say_line(const struct speaker *to, const char *key, const char *value)
{
    if (value[0])
        to->say(to->context, key, value);
}

static void __attribute__((format(printf, 3, 4)))
say_text(const struct speaker *to, const char *key, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    format_text_v(text, sizeof text, format, arguments);
    va_end(arguments);
    say_line(to, key, text);
}

static void say_number(const struct speaker *to, const char *key, uint64_t value)
{
    if (value)
        say_text(to, key, "%lu", value);
}

static const char *const turbo_words[] = {
    [TURBO_UNKNOWN] = "", [TURBO_NONE] = "none", [TURBO_OFF] = "off", [TURBO_ON] = "on"};

/* IA32_HWP_REQUEST: SDM volume 3B, "Managing HWP". */
static void say_power(const struct speaker *to, const struct processor *p)
{
    uint64_t request = p->hwp_request;

    say_line(to, "machine.turbo", turbo_words[p->turbo]);
    if (p->hwp)
        say_text(to, "machine.hwp", "least %lu, most %lu, wanted %lu, energy preference %lu",
                 request & 0xff, request >> 8 & 0xff, request >> 16 & 0xff, request >> 24 & 0xff);
    if (p->pstates && p->intel)
        say_text(to, "machine.pstate", "ratio %u, asked for %u", p->pstate_now, p->pstate_wanted);
    else if (p->pstates)
        say_text(to, "machine.pstate", "P%u, asked for P%u", p->pstate_now, p->pstate_wanted);
}

static void say_processor(const struct speaker *to)
{
    struct processor p;
    static char flags[FLAGS_BYTES];
    struct text text = {.out = flags, .room = sizeof flags};

    processor_read(&p);
    say_line(to, "machine.vendor", p.vendor);
    say_line(to, "machine.model", p.brand);
    say_text(to, "machine.family", "family %u model %u stepping %u", p.signature.family,
             p.signature.model, p.signature.stepping);
    say_line(to, "machine.hypervisor", p.hypervisor[0] ? p.hypervisor : "none");
    if (p.microcode)
        say_text(to, "machine.microcode", "0x%x", p.microcode);
    say_number(to, "machine.base_mhz", p.base_mhz);
    say_number(to, "machine.max_mhz", p.max_mhz);
    say_number(to, "machine.bus_mhz", p.bus_mhz);
    say_line(to, "machine.tsc", p.invariant_tsc ? "invariant" : "not invariant");
    say_power(to, &p);
    proc_add_cpu_flags(&text);
    if (text_end(&text) > 0)
        say_line(to, "machine.features", flags + 1); /* a space precedes each */
}

static void say_caches(const struct speaker *to)
{
    static const char *const letters[] = {
        [CACHE_DATA] = "d", [CACHE_INSTRUCTIONS] = "i", [CACHE_BOTH] = ""};

    for (uint32_t i = 0; i < CACHES_MAX; i++) {
        const struct cache cache = caches_get(i);
        char key[32], shared[40] = "";

        if (cache.type == CACHE_NONE || cache.type > CACHE_BOTH)
            return;
        format_text(key, sizeof key, "machine.cache.L%u%s", cache.level, letters[cache.type]);
        if (cache.threads > 1)
            format_text(shared, sizeof shared, ", for up to %u threads", cache.threads);
        say_text(to, key, "%u KiB, %u ways, lines of %u bytes%s", caches_kib(&cache), cache.ways,
                 cache.line, shared);
    }
}

/* ---- topology ---- */

/* Returns whether the kernel uses the CPU with this APIC id. */
static bool in_use(uint32_t apic_id)
{
    for (uint32_t i = 0; i < cpu_count; i++)
        if (cpus[i].apic_id == apic_id)
            return true;
    return false;
}

/* Returns whether it is another thread of a core that the program uses. */
static bool beside_program(const struct topology *topology, uint32_t apic_id)
{
    for (uint32_t i = 0; i < cpu_count; i++)
        if (cpus[i].ring != NULL && topology_siblings(topology, cpus[i].apic_id, apic_id))
            return true;
    return false;
}

static void add_id(struct text *list, uint32_t apic_id)
{
    text_add(list, "%s%u", list->used ? "," : "", apic_id);
}

static void say_list(const struct speaker *to, const char *key, const struct text *list)
{
    if (list->used && list->used < list->room)
        say_line(to, key, list->out);
}

static void say_siblings(const struct speaker *to, const struct topology *topology)
{
    static char active_text[LIST_BYTES], idle_text[LIST_BYTES];
    struct text active = {.out = active_text, .room = sizeof active_text};
    struct text idle = {.out = idle_text, .room = sizeof idle_text};

    for (uint32_t i = 0; i < run.machine.cpu_count; i++) {
        uint32_t id = run.machine.apic_ids[i];

        if (beside_program(topology, id))
            add_id(in_use(id) ? &active : &idle, id);
    }
    say_list(to, "machine.siblings_active", &active);
    say_list(to, "machine.siblings_idle", &idle);
}

static void say_topology(const struct speaker *to)
{
    static char text[LIST_BYTES];
    struct text list = {.out = text, .room = sizeof text};
    struct topology topology;
    struct topology_count count;

    topology_read(&topology);
    count = topology_count(&topology, run.machine.apic_ids, run.machine.cpu_count);
    say_number(to, "machine.packages", count.packages);
    say_number(to, "machine.cores", count.cores);
    say_number(to, "machine.threads", count.threads);
    for (uint32_t i = 0; i < cpu_count; i++)
        if (cpus[i].ring != NULL)
            add_id(&list, cpus[i].apic_id);
    say_list(to, "machine.program_apic_ids", &list);
    say_siblings(to, &topology);
}

/* ---- firmware and memory ---- */

static void say_modules(const struct speaker *to, const struct smbios *s)
{
    static char text[LIST_BYTES];
    struct text list = {.out = text, .room = sizeof text};

    for (uint32_t i = 0; i < s->kind_count; i++) {
        const struct smbios_modules *kind = &s->kinds[i];
        bool small = kind->bytes >> 30 == 0;

        text_add(&list, "%s%u x %lu %s", i ? "; " : "", kind->count,
                 kind->bytes >> (small ? 20 : 30), small ? "MiB" : "GiB");
        if (kind->type[0])
            text_add(&list, " %s", kind->type);
        if (kind->configured_speed)
            text_add(&list, " at %u MT/s", kind->configured_speed);
        if (kind->speed)
            text_add(&list, ", made for %u MT/s", kind->speed);
    }
    say_list(to, "machine.memory_modules", &list);
    if (s->memory_slots)
        say_text(to, "machine.memory_slots", "%u of %u", s->memory_modules, s->memory_slots);
    say_number(to, "machine.memory_installed", s->memory_bytes);
}

static void say_firmware(const struct speaker *to)
{
    static struct smbios s;

    if (smbios_read(run.boot->smbios, &s))
        return;
    say_text(to, "machine.smbios", "%u.%u", s.major, s.minor);
    say_line(to, "machine.bios_vendor", s.bios_vendor);
    say_line(to, "machine.bios_version", s.bios_version);
    say_line(to, "machine.bios_date", s.bios_date);
    say_line(to, "machine.system_maker", s.system_maker);
    say_line(to, "machine.system_product", s.system_product);
    say_line(to, "machine.system_version", s.system_version);
    say_line(to, "machine.board_maker", s.board_maker);
    say_line(to, "machine.board_product", s.board_product);
    say_line(to, "machine.board_version", s.board_version);
    say_modules(to, &s);
}

/* Counts the ranges of a kind that the boot path handed over, and their bytes. */
static void say_ranges(const struct speaker *to, const char *key, uint32_t kind)
{
    uint64_t bytes = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < run.boot->range_count && i < BOOT_MEMORY_RANGES_MAX; i++) {
        if (run.boot->ranges[i].kind != kind)
            continue;
        bytes += run.boot->ranges[i].bytes;
        count++;
    }
    if (count)
        say_text(to, key, "%u %lu", count, bytes);
}

void machine_describe(machine_say *speak, void *context)
{
    const struct speaker to = {speak, context};

    say_processor(&to);
    say_number(&to, "machine.cpus", cpu_count);
    say_topology(&to);
    say_caches(&to);
    say_firmware(&to);
    say_number(&to, "machine.memory", phys_total_bytes());
    say_ranges(&to, "machine.map_ram", BOOT_MEMORY_RAM);
    say_ranges(&to, "machine.map_reserved", BOOT_MEMORY_RESERVED);
    say_ranges(&to, "machine.map_buffer", BOOT_MEMORY_BUFFER);
}
