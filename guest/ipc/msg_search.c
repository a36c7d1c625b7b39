/* Which message of a queue a receiver takes. */
#include "guest/ipc/msg.h"

static bool fits(const struct msg_message *m, const struct msg_want *want, int64_t position)
{
    switch (want->search) {
    case MSG_ANY:
        return true;
    case MSG_EQUAL:
        return m->type == want->type;
    case MSG_OTHER:
        return m->type != want->type;
    case MSG_LOWEST:
        return m->type <= want->type;
    default:
        return position == want->type;
    }
}

struct msg_message **msg_search(struct msg_message **first, const struct msg_want *want)
{
    struct msg_message **found = NULL;
    int64_t position = 0;

    for (struct msg_message **link = first; *link != NULL; link = &(*link)->next, position++) {
        if (!fits(*link, want, position))
            continue;
        if (want->search != MSG_LOWEST)
            return link;
        if (found == NULL || (*link)->type < (*found)->type)
            found = link;
    }
    return found;
}
