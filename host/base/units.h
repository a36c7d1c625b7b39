/* Quantities as people type them: times ("500ns", "1us", "2.5ms", "10s") and sizes ("64M", "1G").
 *
 * Both return 0, -EINVAL when the text is no such quantity, -ERANGE when it does not fit.
 */
#ifndef HOST_BASE_UNITS_H
#define HOST_BASE_UNITS_H

#include <stdint.h>

#define UNITS_NEEDED 0ull /* as bare_unit_ns: a time without a unit is refused */
#define UNITS_SECOND 1000000000ull

/* Units ns, us, ms, s, m, h.  A number without a unit counts bare_unit_ns. */
int units_parse_time(const char *text, uint64_t bare_unit_ns, uint64_t *time_ns);

/* Units K, M, G, T in powers of 1024, with or without B or iB; without a unit, bytes. */
int units_parse_bytes(const char *text, uint64_t *bytes);

#endif
