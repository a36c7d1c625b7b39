/* One instruction: how it is executed in another place, and whether it may leave its function.  For
 * host/probe/probe_code.c; hostile input; never prints. */
#pragma once

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/run_probes.h"

struct probe_step {
    struct run_probe_point point; /* flow, operands, bytes */
    const char *refused; /* why it cannot have a probe; NULL: it can */
    bool leaves; /* a return, or a jump, wherever it leads */
    bool ends; /* the next instruction does not follow it */
    bool idle; /* it does nothing, or ends the program: no function ends with it */
};

/* Returns false, with *step as it was, if `bytes` bytes of code do not begin with an instruction
 * that is known. */
bool probe_step_read(struct probe_step *step, csh handle, cs_insn *insn, const uint8_t *code,
                     size_t bytes);
