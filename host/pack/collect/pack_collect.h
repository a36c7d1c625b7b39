/* The steps of collecting the contents of a run's archive, in the order of their precedence.
 *
 * Functions return 0, or -1 with the failure filled.
 */
#pragma once

#include "host/pack/collect/pack_contents.h"
#include "host/pack/libraries/pack_libraries.h"

struct pack_collector {
    struct pack *pack;
    const struct options *options;
    const struct launch_machine *machine;
    struct run_failure *failure;
    struct pack_libraries libraries;
};

/* Collects what --file and --root name. */
int pack_collect_given(struct pack_collector *c);

/* Collects what --stdin names.  Its descriptor stays open until hr ends. */
int pack_collect_input(struct pack_collector *c);

/* Collects the program's interpreter and libraries, if it has any. */
int pack_collect_libraries(struct pack_collector *c);

/* Collects the files that the program's arguments name, and those near them that its interpreter
 * may load. */
int pack_collect_arguments(struct pack_collector *c);

/* Collects what programs open without being told to (host/pack/collect/pack_known.h), the locale
 * and the time zone. */
int pack_collect_runtime(struct pack_collector *c);

/* Collects the host's users and groups; the user that the program runs as comes first. */
int pack_collect_users(struct pack_collector *c);

/* Makes the table of points that --probe asks for, of what was collected. */
int pack_collect_probes(struct pack_collector *c);

/* Collects a file or tree of the host, if it exists, and what the libraries in it need.  One that
 * is larger than the rules allow is left out with a note; an unreadable one without a note. */
int pack_collect_path(struct pack_collector *c, const char *path, bool stable,
                      const struct pack_tree_rules *rules, const char *why);

/* Collects the files in the directory of an absolute path that the program's interpreter may load.
 */
int pack_collect_siblings(struct pack_collector *c, const char *path);
