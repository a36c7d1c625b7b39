#!/bin/sh
# Metrics of a trace whose slots are divided in known shares (tests/tools/gentopdown.c): hr stat, timeline, report and view.
. "$(dirname "$0")/../lib.sh"
"$TOOLS/gentopdown" hr.bin || exit 1

# share NAME: of all phases, in hundredths of a percent.
share() { jq ".metrics[] | select(.name == \"$1\") | .value * 100 | round" all.json; }
run_hr stat --metrics --json
cp out all.json
is 'the four categories, means of the four phases' \
    "$(share frontend_bound) $(share bad_speculation) $(share backend_bound) $(share retiring)" '1925 1050 2625 4400'
is 'level 2 of the front end' "$(share fetch_latency) $(share fetch_bandwidth)" '675 1250'
is 'of bad speculation' "$(share branch_mispredicts) $(share machine_clears)" '938 113'
is 'of the back end' "$(share memory_bound) $(share core_bound)" '1750 875'
is 'of what retires' "$(share heavy_operations) $(share light_operations)" '525 3875'
is 'what is above its threshold' "$(jq -r '[.metrics[] | select(.marked) | .name] | join(" ")' all.json)" 'frontend_bound backend_bound'
is 'why others are not there' "$(jq -r '.refused[] | select(.name == "branch_mpki") | .reason' all.json)" 'branch-misses was not recorded'
run_hr stat --metrics=@tma2,IPC
like 'parts stand below their category' out '^    memory_bound +17.5 % '
like 'marks' out '^  backend_bound +26.2 % +! slots in which'

# The second phase alone: it waits for memory.
run_hr stat --metrics --json --from 260us --to 490us
is 'a part of the run' "$(jq -r '[.metrics[] | select(.level != 0 and .marked) | .name] | join(" ")' out)" 'backend_bound memory_bound'
run_hr timeline --metric memory_bound,retiring --bin 250us --format csv
is 'hr timeline: each phase has its share' "$(awk -F, '$4 == "memory_bound" { printf "%.0f ", $7 }' out)" '4 63 2 1 '
run_hr report --by address --metric bad_speculation,heavy_operations --format csv
is 'hr report: so have its addresses' "$(awk -F, 'NR > 1 { printf "%.0f ", $(NF - 1) }' out | tr ' ' '\n' | sort -n | xargs)" '2 2 3 35'
run_hr report --metric all
like 'a table has room for eight' err 'a table has room for 8 metrics; name fewer, or --format csv'
run_hr stat --metrics --files
is 'one kind of summary' "$status" 2
run_hr timeline --metric fronted_bound
like 'an unknown metric' err "unknown metric 'fronted_bound'; the nearest: frontend_bound"

# The page.
. "$ROOT/tests/view/look.sh"
run_hr view
look hr.html overview moment=600000
is 'hr view: bands first' "$(seen '.overview.tracks[0]')" 'top-down of slots'
is 'each category has its share of the run, in tenths' "$(seen '.overview.bands."top-down" | to_entries[] | "\(.key) \(.value * 10 | round)"' | xargs)" \
    'frontend_bound 2 bad_speculation 1 backend_bound 3 retiring 4'
is 'metrics can be chosen' "$(seen '[.overview.choices[] | select(startswith("memory_bound"))] | join(",")')" 'memory_bound %'
like 'under the pointer the share of each band' seen 'bad_speculation'
is 'of that phase' "$(seen .moment | sort | xargs)" '10.0 % backend_bound 20.0 % frontend_bound 35.0 % bad_speculation 35.0 % retiring'
done_testing
