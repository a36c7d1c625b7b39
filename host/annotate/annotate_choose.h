/* Which function of a profile the user means.  For hr annotate. */
#pragma once

#include "host/report/profile.h"

/* The function of a sorted profile that `wanted` names: FUNCTION, FUNCTION@OBJECT, or an address in
 * it (0x...).  host/draw/function_name.h says what may be left out.  NULL when there is none or
 * more than one: it is reported, with the names that come near or the ones to choose from. */
const struct place *annotate_choose(const struct profile *profile, const char *wanted);
