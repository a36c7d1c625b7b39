/* Code that is in no file: a trace itself has its names and lines.  For host/symbols/symbols.c. */
#pragma once

#include "host/symbols/symbols_state.h"

/* Fills *place.  Returns false if the trace has no name for it. */
bool symbols_made_place(struct symbols *s, uint64_t address, struct symbols_place *place);

/* Fills *frame with the line of such code.  Returns how many functions are there. */
uint32_t symbols_made_line(struct symbols *s, uint64_t address, struct symbols_frame *frame);
