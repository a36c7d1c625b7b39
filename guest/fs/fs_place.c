/* Working directories and umasks. */
#include "guest/fs/fs_place.h"

#include "guest/base/context.h"
#include "guest/fs/fs.h"
#include "guest/memory/heap.h"

struct process_place *fs_place_copy(const struct process_place *from)
{
    struct process_place *place = heap_alloc(sizeof *place);

    if (place == NULL)
        return NULL;
    *place = *from;
    place->references = 1;
    fs_entry_hold(place->directory);
    return place;
}

struct process_place *fs_place_hold(struct process_place *place)
{
    cross_assert_held();
    place->references++;
    return place;
}

void fs_place_release(struct process_place *place)
{
    cross_assert_held();
    if (place == NULL || --place->references)
        return;
    fs_entry_release(place->directory);
    heap_free(place, sizeof *place);
}
