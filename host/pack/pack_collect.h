/* The steps of collecting what goes into a run's archive, in the order of their precedence.
 *
 * Functions return 0, or -1 with the failure filled.
 */
#ifndef HOST_PACK_PACK_COLLECT_H
#define HOST_PACK_PACK_COLLECT_H

#include "host/pack/pack.h"
#include "host/pack/pack_libraries.h"

struct pack_collector {
    struct pack *pack;
    const struct options *options;
    const struct launch_machine *machine;
    struct run_failure *failure;
    struct pack_libraries libraries;
};

/* What --file and --root name. */
int pack_collect_given(struct pack_collector *c);

/* What --stdin names.  Its descriptor stays open until hr ends. */
int pack_collect_input(struct pack_collector *c);

/* The program's interpreter and libraries, if it has any. */
int pack_collect_libraries(struct pack_collector *c);

/* The files that the program's arguments name, and what its interpreter may load beside them. */
int pack_collect_arguments(struct pack_collector *c);

/* What programs open without being told to (host/pack/pack_known.h), the locale, the time zone. */
int pack_collect_runtime(struct pack_collector *c);

/* The host's users and groups, and first of them the one that the program runs as. */
int pack_collect_users(struct pack_collector *c);

/* A file or tree of the host, if it is there, and what the libraries in it need.  One that is
 * larger than the rules allow is left out with a note; one that cannot be read, without.
 */
int pack_collect_path(struct pack_collector *c, const char *path, bool stable,
                      const struct pack_tree_rules *rules, const char *why);

/* What the program's interpreter may load that lies beside the file at an absolute path. */
int pack_collect_siblings(struct pack_collector *c, const char *path);

#endif
