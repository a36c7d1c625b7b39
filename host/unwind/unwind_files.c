/* Finds the file for an address, and its rule there. */
#include "host/unwind/unwind_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_MAX (80ull << 20) /* of all tables */

void unwind_files_open(struct unwind_files *files, const struct trace_info *info,
                       const struct symbols_options *options)
{
    memset(files, 0, sizeof *files);
    files->info = info;
    if (options != NULL)
        files->options = *options;
}

void unwind_files_close(struct unwind_files *files)
{
    while (files->list != NULL) {
        struct unwind_file *file = files->list;

        files->list = file->next;
        unwind_tables_close(&file->tables);
        if (file->asked)
            symbols_file_close(&file->served);
        free(file->path);
        free(file);
    }
    free(files->mappings);
    memset(files, 0, sizeof *files);
}

static struct unwind_file *file_of(struct unwind_files *files, const struct trace_map *map)
{
    struct unwind_file *file = files->list;

    while (file != NULL && strcmp(file->path, map->path) != 0)
        file = file->next;
    if (file != NULL)
        return file;
    file = calloc(1, sizeof *file);
    if (file == NULL || (file->path = strdup(map->path)) == NULL) {
        free(file);
        return NULL;
    }
    file->map = *map;
    file->map.path = file->path;
    file->next = files->list;
    files->list = file;
    return file;
}

/* Adds a mapping, for which there is room. */
static int add(struct unwind_files *files, const struct trace_map *map)
{
    struct unwind_mapping *mapping = &files->mappings[files->mapping_count];

    *mapping = (struct unwind_mapping){map->meta.start, map->meta.end, map->meta.file_offset, NULL};
    if ((map->meta.flags & HR_MAP_KERNEL) == 0 && symbols_file_named(map) &&
        (mapping->file = file_of(files, map)) == NULL)
        return -ENOMEM;
    files->mapping_count++;
    return 0;
}

int unwind_files_update(struct unwind_files *files)
{
    const struct trace_info *info = files->info;
    const struct trace_spaces *spaces = &info->processes.spaces;
    size_t news = info->map_count - files->map_count + (spaces->view_count - files->view_count);
    struct unwind_mapping *mappings;
    int error = 0;

    if (news == 0)
        return 0;
    mappings = reallocarray(files->mappings, files->mapping_count + news, sizeof *mappings);
    if (mappings == NULL)
        return -ENOMEM;
    files->mappings = mappings;
    for (; files->map_count < info->map_count && error == 0; files->map_count++)
        error = add(files, &info->maps[files->map_count]);
    for (; files->view_count < spaces->view_count && error == 0; files->view_count++) {
        struct trace_map map;

        trace_info_view(info, files->view_count, &map);
        error = add(files, &map);
    }
    return error != 0 ? error : 1;
}

static void load(struct unwind_files *files, struct unwind_file *file)
{
    const char *program = symbols_file_program(files->info);
    bool own = program != NULL && strcmp(program, file->path) == 0;

    file->asked = true;
    if (symbols_file_open(&file->served, &file->map, own, &files->options) != 0)
        return;
    unwind_tables_open(&file->tables, file->served.fd, MEMORY_MAX - files->bytes);
    files->bytes += file->tables.bytes;
}

enum unwind_found unwind_files_find(struct unwind_files *files, uint64_t address,
                                    struct unwind_rule *rule)
{
    const struct unwind_mapping *mapping = NULL;
    struct unwind_file *file;
    uint64_t offset;

    for (size_t i = files->mapping_count; i-- > 0 && mapping == NULL;)
        if (address >= files->mappings[i].start && address < files->mappings[i].end)
            mapping = &files->mappings[i];
    if (mapping == NULL)
        return UNWIND_NO_MAP;
    file = mapping->file;
    if (file == NULL)
        return UNWIND_NO_RULE;
    if (!file->asked)
        load(files, file);
    offset = address - mapping->start + mapping->file_offset;
    if (unwind_tables_find(&file->tables, offset, rule))
        return UNWIND_RULE;
    return unwind_tables_is_entry(&file->tables, offset) ? UNWIND_ENTRY : UNWIND_NO_RULE;
}
