/* Parses the signature of a CPU, CPUID leaf 1 EAX (SDM volume 2, CPUID, "Version Information"; AMD
 * APM volume 3, appendix E, Fn0000_0001 EAX).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct x86_signature {
    uint32_t family, model, stepping; /* as displayed: extended fields are included */
};

static inline struct x86_signature x86_signature_parse(uint32_t eax, bool amd)
{
    struct x86_signature s = {eax >> 8 & 0xf, eax >> 4 & 0xf, eax & 0xf};

    if (s.family == 0xf || (s.family == 6 && !amd))
        s.model |= eax >> 12 & 0xf0;
    if (s.family == 0xf)
        s.family += eax >> 20 & 0xff;
    return s;
}

/* AMD's families: 17H has Zen 1 and 2, 19H has Zen 3 and 4, 1AH Zen 5. */
#define X86_FAMILY_ZEN 0x17u
#define X86_FAMILY_ZEN3 0x19u

static inline bool x86_signature_is_zen3(const struct x86_signature *cpu)
{
    return cpu->family == X86_FAMILY_ZEN3 &&
           (cpu->model <= 0x0f || (cpu->model >= 0x20 && cpu->model <= 0x5f));
}

static inline bool x86_signature_is_zen2_or_3(const struct x86_signature *cpu)
{
    return x86_signature_is_zen3(cpu) || (cpu->family == X86_FAMILY_ZEN && cpu->model >= 0x30);
}
