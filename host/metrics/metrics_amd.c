/* AMD's pipeline utilization of two levels.
 *
 * Zen 4: PPR of family 19H model 11H revision B1, 2.1.15.2 "Performance Measurement"; Zen 5:
 * "Performance Monitor Counters for AMD Family 1Ah Model 00h-0Fh Processors", 1.2 of that name; in
 * both the table "Guidance for Pipeline Utilization Analysis Statistics", as AMD's patches of
 * Linux's perf quote it (amdzen4/pipeline.json, amdzen5/pipeline.json).  AMD publishes no
 * thresholds.
 */
#include "host/metrics/metrics_table.h"

/* Fills of the first cache from memory, of this node and others: PMCx044. */
#define MEMORY_LINES                    \
    {                                   \
        "memory-lines", 0x4844, "r4844" \
    }
#define END           \
    {                 \
        NULL, 0, NULL \
    }
#define DISPATCH                                                                  \
    {"no-ops-from-frontend", 0x1000001a0, "DISPATCH_STALLS_1.FE_NO_OPS"},         \
        {"backend-stalls", 0x100001ea0, "DISPATCH_STALLS_1.BE_STALLS"},           \
        {"smt-contention", 0x1000060a0, "DISPATCH_STALLS_1.SMT_CONTENTION"},      \
        {"ops-dispatched", 0x07aa, "r7aa"}, {"ops-retired", 0xc1, "RETIRED_OPS"}, \
        {"ucode-ops-retired", 0x1000000c2, "RETIRED_UCODE_OPS"},                  \
        {"no-retire", 0x02d6, "CYCLES_NO_RETIRE.NOT_COMPLETE_LOAD_AND_ALU"},      \
    {                                                                             \
        "no-retire-load", 0xa2d6, "CYCLES_NO_RETIRE.NOT_COMPLETE_MISSING_LOAD"    \
    }

const struct metrics_event metrics_amd_zen3_events[] = {MEMORY_LINES, END};

const struct metrics_event metrics_amd_zen4_events[] = {
    DISPATCH,
    {"no-ops-cycles", 0x1060001a0, "r1060001a0"},
    {"resyncs", 0x96, "RESYNCS"},
    MEMORY_LINES,
    END,
};

const struct metrics_event metrics_amd_zen5_events[] = {
    DISPATCH,
    {"no-ops-cycles", 0x1080001a0, "r1080001a0"},
    {"resyncs", 0x019f, "r19f"},
    MEMORY_LINES,
    END,
};

/* Zen 4 dispatches six operations a cycle, Zen 5 eight.  `width` is a string. */
#define PIPELINE(width)                                                         \
    {                                                                           \
        {"frontend_bound",                                                      \
         "%",                                                                   \
         "100 * no-ops-from-frontend / (" width " * cycles)",                   \
         NULL,                                                                  \
         NULL,                                                                  \
         1,                                                                     \
         "dispatch slots unused because the front end delivered too little"},   \
            {"frontend_latency",                                                \
             "%",                                                               \
             "100 * no-ops-cycles / cycles",                                    \
             NULL,                                                              \
             "frontend_bound",                                                  \
             2,                                                                 \
             "of these: in cycles with nothing delivered at all"},              \
            {"frontend_bandwidth",                                              \
             "%",                                                               \
             "frontend_bound - frontend_latency",                               \
             NULL,                                                              \
             "frontend_bound",                                                  \
             2,                                                                 \
             "of these: in cycles with too little delivered"},                  \
            {"bad_speculation",                                                 \
             "%",                                                               \
             "100 * (ops-dispatched - ops-retired) / (" width " * cycles)",     \
             NULL,                                                              \
             NULL,                                                              \
             1,                                                                 \
             "dispatched operations that did not retire"},                      \
            {"branch_mispredicts",                                              \
             "%",                                                               \
             "bad_speculation * branch-misses / (branch-misses + resyncs)",     \
             NULL,                                                              \
             "bad_speculation",                                                 \
             2,                                                                 \
             "of these: for mispredicted branches"},                            \
            {"pipeline_restarts",                                               \
             "%",                                                               \
             "bad_speculation * resyncs / (branch-misses + resyncs)",           \
             NULL,                                                              \
             "bad_speculation",                                                 \
             2,                                                                 \
             "of these: for resyncs"},                                          \
            {"backend_bound",                                                   \
             "%",                                                               \
             "100 * backend-stalls / (" width " * cycles)",                     \
             NULL,                                                              \
             NULL,                                                              \
             1,                                                                 \
             "dispatch slots unused because of stalls of the back end"},        \
            {"backend_memory",                                                  \
             "%",                                                               \
             "backend_bound * no-retire-load / no-retire",                      \
             NULL,                                                              \
             "backend_bound",                                                   \
             2,                                                                 \
             "of these: for memory"},                                           \
            {"backend_cpu",   "%", "backend_bound - backend_memory", NULL,      \
             "backend_bound", 2,   "of these: for other reasons"},              \
            {"smt_contention",                                                  \
             "%",                                                               \
             "100 * smt-contention / (" width " * cycles)",                     \
             NULL,                                                              \
             NULL,                                                              \
             1,                                                                 \
             "dispatch slots that the core's other thread had"},                \
            {"retiring", "%", "100 * ops-retired / (" width " * cycles)", NULL, \
             NULL,       1,   "dispatch slots of operations that retired"},     \
            {"retiring_fastpath", "%", "retiring - retiring_microcode", NULL,   \
             "retiring",          2,   "of these: fastpath operations"},        \
            {"retiring_microcode",                                              \
             "%",                                                               \
             "retiring * ucode-ops-retired / ops-retired",                      \
             NULL,                                                              \
             "retiring",                                                        \
             2,                                                                 \
             "of these: microcode"},                                            \
            {NULL, NULL, NULL, NULL, NULL, 0, NULL},                            \
    }

const struct metric metrics_amd_zen4[] = PIPELINE("6");
const struct metric metrics_amd_zen5[] = PIPELINE("8");
