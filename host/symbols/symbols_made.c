/* Names code that is in no file. */
#include "host/symbols/symbols_made.h"

#include "host/base/text.h"
#include "host/symbols/symbols_python.h"

static const struct trace_python_code *python_at(struct symbols *s, uint64_t address)
{
    if (address < HR_PYTHON_BASE || address >= HR_PYTHON_END || s->made == NULL)
        return NULL;
    (void)trace_names_read(s->made); /* without memory there are fewer */
    return trace_names_python(s->made, address);
}

/* A function whose code objects were made several times, or met on several CPUs, is one place: that
 * of the first. */
static bool place_python(struct symbols *s, uint64_t address, struct symbols_place *place)
{
    const struct trace_python_code *code = python_at(s, address);

    if (code == NULL) { /* there was no room to say which */
        place->name = "[unknown Python]";
        return true;
    }
    place->name = code->first->name;
    place->object = text_base_name(code->first->file);
    place->start = code->first->meta.start;
    place->end = place->start + code->first->meta.code_bytes;
    place->offset = address - code->meta.start;
    return true;
}

bool symbols_made_place(struct symbols *s, uint64_t address, struct symbols_place *place)
{
    const struct trace_jit_code *code;
    const struct trace_jit *jit;
    uint64_t tag = address - trace_names_untagged(address);

    if (s->made == NULL || place->kernel)
        return false;
    if (address >= HR_PYTHON_BASE && address < HR_PYTHON_END)
        return place_python(s, address, place);
    (void)trace_names_read(s->made);
    code = trace_names_made(s->made, address, &jit);
    if (code == NULL)
        return false;
    place->name = code->name;
    place->object = text_base_name(code->file->path);
    place->start = code->place != 0 && address - code->place < code->end - code->start
                       ? code->place
                       : code->start + tag;
    place->end = place->start + (code->end - code->start);
    place->offset = address - place->start;
    return true;
}

uint32_t symbols_made_line(struct symbols *s, uint64_t address, struct symbols_frame *frame)
{
    const struct trace_python_code *python = python_at(s, address);
    const struct trace_jit *jit;
    const struct trace_jit_code *code = trace_names_made(s->made, address, &jit);
    const struct trace_jit_line *line =
        code != NULL ? trace_jit_line(jit, code, trace_names_untagged(address)) : NULL;

    *frame = (struct symbols_frame){0};
    if (python != NULL)
        *frame = (struct symbols_frame){
            .file = python->file,
            .line =
                symbols_python_line(python->lines, python->meta.line_bytes, python->meta.first_line,
                                    (uint32_t)(address - python->meta.start))};
    else if (line != NULL)
        *frame = (struct symbols_frame){.file = line->file, .line = line->line};
    return 1;
}
