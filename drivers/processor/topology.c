/* Reads the shape of APIC ids from CPUID. */
#include "drivers/processor/topology.h"

#include "drivers/processor/processor.h"
#include "drivers/processor/processor_regs.h"
#include "lib/x86.h"

#define DOMAINS_MAX 16
#define IDS_MAX 1024
#define SHIFT_MAX 31u

enum { DOMAIN_END = 0, DOMAIN_THREAD = 1 }; /* of leaves 0BH and 1FH, ECX bits 15:8 */

/* Returns the bits that numbers from 0 to count - 1 need. */
static uint32_t bits_for(uint32_t count)
{
    return count > 1 ? 32 - (uint32_t)__builtin_clz(count - 1) : 0;
}

static uint32_t bounded(uint32_t shift)
{
    return shift < SHIFT_MAX ? shift : SHIFT_MAX;
}

/* SDM volume 2A, "V2 Extended Topology Enumeration Leaf" (1FH) and "Extended Topology Enumeration
 * Leaf" (0BH, AMD's too): sub-leaves from the thread up, each with the shift to the next domain. */
static bool read_extended(uint32_t leaf, struct topology *out)
{
    bool any = false;

    for (uint32_t i = 0; processor_has_leaf(leaf) && i < DOMAINS_MAX; i++) {
        struct cpuid_result domain = x86_cpuid(leaf, i);
        uint32_t type = domain.ecx >> 8 & 0xff, shift = domain.eax & 0x1f;

        if (type == DOMAIN_END || (domain.ebx & 0xffff) == 0)
            break;
        if (type == DOMAIN_THREAD)
            out->core_shift = shift;
        out->package_shift = shift;
        any = true;
    }
    return any;
}

/* APM volume 3, Fn8000_0008 ECX and Fn8000_001E EBX. */
static bool read_amd(struct topology *out)
{
    uint32_t sizes, id_bits;

    if (!processor_has_leaf(0x8000001e) ||
        !(x86_cpuid(0x80000001, 0).ecx & CPUID_EXT_1_ECX_TOPOLOGY))
        return false;
    sizes = x86_cpuid(0x80000008, 0).ecx;
    id_bits = sizes >> 12 & 0xf;
    out->core_shift = bits_for((x86_cpuid(0x8000001e, 0).ebx >> 8 & 0xff) + 1);
    out->package_shift = id_bits ? id_bits : bits_for((sizes & 0xff) + 1);
    return true;
}

/* SDM volume 3A, "Hierarchical Mapping of CPUID Extended Topology Leaf", the part on processors
 * without one: leaf 1's number of ids a package, leaf 4's of cores. */
static void read_old(struct topology *out)
{
    bool several = x86_cpuid(1, 0).edx & CPUID_1_EDX_HTT;
    uint32_t ids = several ? x86_cpuid(1, 0).ebx >> 16 & 0xff : 1;
    uint32_t caches = processor_has_leaf(4) ? x86_cpuid(4, 0).eax : 0;
    uint32_t cores = caches & 0x1f ? (caches >> 26) + 1 : ids; /* nothing said: no threads */

    out->package_shift = bits_for(ids);
    out->core_shift = cores < ids ? bits_for(ids / cores) : 0;
}

void topology_read(struct topology *out)
{
    *out = (struct topology){0};
    if (!read_extended(0x1f, out) && !read_extended(0x0b, out) && !read_amd(out))
        read_old(out);
    out->core_shift = bounded(out->core_shift);
    out->package_shift = bounded(out->package_shift);
    if (out->package_shift < out->core_shift)
        out->package_shift = out->core_shift;
}

/* Returns how many different values id >> shift has. */
static uint32_t different(const uint32_t *ids, uint32_t count, uint32_t shift)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t earlier = 0;

        while (earlier < i && ids[earlier] >> shift != ids[i] >> shift)
            earlier++;
        found += earlier == i;
    }
    return found;
}

struct topology_count topology_count(const struct topology *topology, const uint32_t *apic_ids,
                                     uint32_t count)
{
    return (struct topology_count){
        .packages = different(apic_ids, count, topology->package_shift),
        .cores = different(apic_ids, count, topology->core_shift),
        .threads = count,
    };
}

/* Returns how many threads of its core come before it: `boot`, and those in the list. */
static uint32_t topology_before(const struct topology *topology, const uint32_t *ids, uint32_t i,
                                uint32_t boot)
{
    uint32_t count = topology_siblings(topology, ids[i], boot);

    for (uint32_t j = 0; j < i && ids[i] != boot; j++)
        count += ids[j] != boot && topology_siblings(topology, ids[i], ids[j]);
    return count;
}

void topology_spread(const struct topology *topology, uint32_t *apic_ids, uint32_t count,
                     uint32_t boot)
{
    static uint32_t ordered[IDS_MAX], ranks[IDS_MAX];
    uint32_t done = 0;

    if (count > IDS_MAX)
        return;
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = topology_before(topology, apic_ids, i, boot);
    for (uint32_t rank = 0; done < count; rank++)
        for (uint32_t i = 0; i < count; i++)
            if (ranks[i] == rank)
                ordered[done++] = apic_ids[i];
    for (uint32_t i = 0; i < count; i++)
        apic_ids[i] = ordered[i];
}
