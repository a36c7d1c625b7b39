/* Prints shared lines as text, CSV and JSON. */
#include "host/memory/lines/memory_lines_print.h"

#include "host/base/text.h"
#include "host/memory/accesses/memory_profile_print.h"
#include "host/scan/reader.h"

#define USES_SHOWN 12u
#define NAME_BYTES 512

static const char *const sharing_names[] = {
    [MEMORY_SHARING_FALSE] = "false",
    [MEMORY_SHARING_TRUE] = "true",
    [MEMORY_SHARING_BOTH] = "both",
};

static void print_line(FILE *out, const struct memory_lines *lines, const struct memory_line *line,
                       size_t number)
{
    static const char *const words[] = {
        [MEMORY_SHARING_FALSE] = "FALSE SHARING: threads use different parts of the line",
        [MEMORY_SHARING_TRUE] = "true sharing: threads use the same part of the line",
        [MEMORY_SHARING_BOTH] = "threads share parts of the line, and others that they do not",
    };
    char safe[NAME_BYTES], function[NAME_BYTES], count[5][TEXT_QUANTITY_BYTES];

    fprintf(out, "\n%zu. %s\n", number, text_escape(safe, sizeof safe, line->name));
    fprintf(out, "   %s\n", words[line->sharing]);
    fprintf(out,
            "   line 0x%lx of process %u: %.1f%% of all %s, %s records, %s of them modified "
            "elsewhere, %s turns\n",
            line->address, line->pid, 100 * memory_sums_share(&lines->total, &line->sums),
            lines->total.timed != 0 ? "latency" : "accesses",
            text_count(count[0], memory_sums_records(&line->sums)),
            text_count(count[1], line->sums.modified), text_count(count[2], line->turns));
    fprintf(out, "   %6s %9s %9s %8s %8s  %s\n", "offset", "reads", "writes", "mean", "thread",
            "what, and from where");
    for (size_t i = 0; i < reader_shown(line->use_count, USES_SHOWN); i++) {
        const struct memory_use *use = &line->uses[i];

        fprintf(out, "   %6u %9s %9s %8.1f %8u  %s  from %s\n", use->offset,
                text_count(count[3], use->sums.reads), text_count(count[4], use->sums.writes),
                memory_sums_mean(&use->sums), use->tid, text_escape(safe, sizeof safe, use->field),
                text_escape(function, sizeof function, use->function));
    }
    if (line->use_count > USES_SHOWN)
        fprintf(out, "   # %zu more places and threads; --format csv shows all\n",
                line->use_count - USES_SHOWN);
}

void memory_lines_print(FILE *out, const struct memory_lines *lines, unsigned long limit)
{
    const struct trace_info *info = lines->accesses->names.info;
    char count[TEXT_QUANTITY_BYTES];
    size_t falsely = 0;

    memory_profile_print_head(out, info, lines->records, lines->without);
    for (size_t i = 0; i < lines->count; i++)
        falsely += lines->all[i].sharing == MEMORY_SHARING_FALSE;
    fprintf(out,
            "# %s line%s of %u bytes that several threads use in turns, and one of them writes: "
            "%zu with false sharing\n",
            text_count(count, lines->count), lines->count == 1 ? "" : "s", MEMORY_LINE_BYTES,
            falsely);
    if (lines->left_out != 0)
        fprintf(out, "# %s lines that cost less were not looked at\n",
                text_count(count, lines->left_out));
    for (size_t i = 0; i < reader_shown(lines->count, limit); i++)
        print_line(out, lines, &lines->all[i], i + 1);
    if (reader_shown(lines->count, limit) < lines->count)
        fprintf(out, "\n# %zu more; --limit 0 shows all\n",
                lines->count - reader_shown(lines->count, limit));
}

void memory_lines_print_csv(struct output *out, const struct memory_lines *lines,
                            unsigned long limit)
{
    output_text(out, "line,pid,address,sharing,turns,cost_share,offset,tid,field,function,reads,"
                     "writes,beyond_l1,modified,timed,latency_cycles,estimated_accesses\n");
    for (size_t i = 0; i < reader_shown(lines->count, limit); i++) {
        const struct memory_line *line = &lines->all[i];

        for (size_t n = 0; n < line->use_count; n++) {
            const struct memory_use *use = &line->uses[n];

            output_csv_print(out, "%lu,%u,%#lx,%s,%lu,%g,%u,%u,%s,%s,%lu,%lu,%lu,%lu,%lu,%lu,%lu\n",
                             i + 1, line->pid, line->address, sharing_names[line->sharing],
                             line->turns, memory_sums_share(&lines->total, &line->sums),
                             use->offset, use->tid, use->field, use->function, use->sums.reads,
                             use->sums.writes, use->sums.beyond_l1, use->sums.modified,
                             use->sums.timed, use->sums.latency, use->sums.estimated);
        }
    }
}

static void json_line(struct output *out, const struct memory_lines *lines,
                      const struct memory_line *line)
{
    output_json_print(out,
                      "{\"name\":%s,\"pid\":%u,\"address\":%lu,\"sharing\":%s,\"turns\":%lu,"
                      "\"cost_share\":%g,\"uses\":[",
                      line->name, line->pid, line->address, sharing_names[line->sharing],
                      line->turns, memory_sums_share(&lines->total, &line->sums));
    for (size_t n = 0; n < line->use_count; n++) {
        const struct memory_use *use = &line->uses[n];

        output_text(out, n != 0 ? ",\n" : "\n");
        output_json_print(out,
                          "{\"offset\":%u,\"tid\":%u,\"field\":%s,\"function\":%s,\"reads\":%lu,"
                          "\"writes\":%lu,\"beyond_l1\":%lu,\"modified\":%lu,\"timed\":%lu,"
                          "\"latency_cycles\":%lu,\"estimated_accesses\":%lu}",
                          use->offset, use->tid, use->field, use->function, use->sums.reads,
                          use->sums.writes, use->sums.beyond_l1, use->sums.modified,
                          use->sums.timed, use->sums.latency, use->sums.estimated);
    }
    output_text(out, "]}");
}

void memory_lines_print_json(struct output *out, const struct memory_lines *lines,
                             unsigned long limit)
{
    output_json_print(out, "{\"records\":%lu,\"left_out\":%lu,\"lines\":[", lines->records,
                      lines->left_out);
    for (size_t i = 0; i < reader_shown(lines->count, limit); i++) {
        output_text(out, i != 0 ? ",\n" : "\n");
        json_line(out, lines, &lines->all[i]);
    }
    output_text(out, "]}\n");
}
