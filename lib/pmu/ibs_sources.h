/* hr_access.source with HR_SOURCES_AMD and HR_SOURCES_AMD_FINE: what the kernel keeps of the
 * registers of instruction-based sampling, and what it means.  AMD PPR of families 17H and 19H,
 * MSRs C001_1030 (IbsFetchCtl), C001_1036 (IbsOpData2), C001_1037 (IbsOpData3).
 *
 * Of an op: bits 7:0 of IbsOpData2, and from bit 8 on bits 25:0 of IbsOpData3.  Of a fetch:
 * IBS_SOURCE_FETCH, and bits 63:48 of IbsFetchCtl.
 */
#pragma once

#define IBS_SOURCE_DATA2 0xffull
#define IBS_SOURCE_DATA3 0x3ffffffull
#define IBS_SOURCE_DATA3_SHIFT 8
#define IBS_SOURCE_FETCH (1ull << 34)
#define IBS_SOURCE_FETCH_SHIFT 48

/* Of an op. */
#define IBS_SOURCE_CODE 0x7u /* where data was; from Zen 4 on also bits 7:6 */
#define IBS_SOURCE_REMOTE 0x10u /* of memory: that of another node */
#define IBS_SOURCE_HIT_STATE 0x20u /* of a cache: not the one that had modified the line */
#define IBS_SOURCE_LOAD (1ull << 8)
#define IBS_SOURCE_STORE (1ull << 9)
#define IBS_SOURCE_TLB_MISS (1ull << 11) /* the second level missed */
#define IBS_SOURCE_L1_MISS (1ull << 15)
#define IBS_SOURCE_UNCACHED (1ull << 22)
#define IBS_SOURCE_LOCKED (1ull << 23)
#define IBS_SOURCE_NO_BUFFER (1ull << 24) /* the line was on its way already */
#define IBS_SOURCE_L2_MISS (1ull << 28)

/* Of a fetch. */
#define IBS_SOURCE_FETCH_MISS (1ull << 3)
#define IBS_SOURCE_FETCH_TLB_MISS (1ull << 8) /* likewise */
#define IBS_SOURCE_FETCH_L2_MISS (1ull << 10)
