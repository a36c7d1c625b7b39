/* What the entry for counter overflows takes to deliver an NMI, for assembly too.  Intel SDM volume
 * 3, "Local Vector Table"; the MSR is that of x2APIC mode. */
#pragma once

#define APIC_LVT_NMI 0x400
#define APIC_MSR_LVT_PMI 0x834
