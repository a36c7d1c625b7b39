/* Names of CPU features (Linux 6.1, arch/x86/include/asm/cpufeatures.h). */
#include "guest/cpu/proc_flags.h"

#include <string.h>

#include "lib/array.h"
#include "lib/x86.h"

enum { EAX, EBX, ECX, EDX };

/* A register's names, bit 0 first; "-": no name. */
static const struct word {
    uint32_t leaf;
    uint32_t subleaf;
    int part;
    const char *names;
} words[] = {
    {1, 0, EDX,
     "fpu vme de pse tsc msr pae mce cx8 apic - sep mtrr pge mca cmov pat pse36 pn clflush - dts "
     "acpi mmx fxsr sse sse2 ss ht tm ia64 pbe"},
    {0x80000001, 0, EDX,
     "- - - - - - - - - - - syscall - - - - - - - mp nx - mmxext - - fxsr_opt pdpe1gb rdtscp - lm "
     "3dnowext 3dnow"},
    {1, 0, ECX,
     "pni pclmulqdq dtes64 monitor ds_cpl vmx smx est tm2 ssse3 cid sdbg fma cx16 xtpr pdcm - pcid "
     "dca sse4_1 sse4_2 x2apic movbe popcnt tsc_deadline_timer aes xsave - avx f16c rdrand "
     "hypervisor"},
    {0x80000001, 0, ECX,
     "lahf_lm cmp_legacy svm extapic cr8_legacy abm sse4a misalignsse 3dnowprefetch osvw ibs xop "
     "skinit wdt - lwp fma4 tce - nodeid_msr - tbm topoext perfctr_core perfctr_nb - bpext ptsc "
     "perfctr_llc mwaitx - -"},
    {7, 0, EBX,
     "fsgsbase tsc_adjust sgx bmi1 hle avx2 - smep bmi2 erms invpcid rtm cqm - mpx rdt_a avx512f "
     "avx512dq rdseed adx smap avx512ifma - clflushopt clwb intel_pt avx512pf avx512er avx512cd "
     "sha_ni avx512bw avx512vl"},
    {13, 1, EAX,
     "xsaveopt xsavec xgetbv1 xsaves - - - - - - - - - - - - - - - - - - - - - - - - - - "
     "- -"},
    {7, 1, EAX, "- - - - avx_vnni avx512_bf16 - - - - - - - - - - - - - - - - - - - - - - - - - -"},
    {0x80000008, 0, EBX,
     "clzero irperf xsaveerptr - rdpru - - - - wbnoinvd - - - - - - - - - - - - - - - - - - - - - "
     "-"},
    {6, 0, EAX, "dtherm ida arat - pln - pts - - - - - - - - - - - - - - - - - - - - - - - - -"},
    {7, 0, ECX,
     "- avx512vbmi umip pku ospke waitpkg avx512_vbmi2 - gfni vaes vpclmulqdq avx512_vnni "
     "avx512_bitalg tme avx512_vpopcntdq - la57 - - - - - rdpid - bus_lock_detect cldemote - "
     "movdiri movdir64b enqcmd - -"},
    {7, 0, EDX,
     "- - avx512_4vnniw avx512_4fmaps fsrm - - - avx512_vp2intersect - md_clear - - - serialize - "
     "tsxldtrk - pconfig arch_lbr ibt - amx_bf16 avx512_fp16 amx_tile amx_int8 - - flush_l1d "
     "arch_capabilities - -"},
};

static uint32_t register_of(const struct word *word)
{
    struct cpuid_result r;

    if (x86_cpuid(word->leaf & 0x80000000, 0).eax < word->leaf)
        return 0;
    r = x86_cpuid(word->leaf, word->subleaf);
    return word->part == EAX   ? r.eax
           : word->part == EBX ? r.ebx
           : word->part == ECX ? r.ecx
                               : r.edx;
}

static void add_word(struct text *text, const struct word *word)
{
    uint32_t bits = register_of(word);
    const char *name = word->names;

    for (; *name; bits >>= 1) {
        int length = 0;

        while (name[length] && name[length] != ' ')
            length++;
        if (bits & 1 && *name != '-') {
            text_add(text, " ");
            for (int i = 0; i < length; i++)
                text_add(text, "%c", name[i]);
        }
        name += length + (name[length] == ' ');
    }
}

void proc_add_cpu_flags(struct text *text)
{
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        add_word(text, &words[i]);
}
