# A section of bench.sh, which reads this file: wall time of emulated runs beside callgrind's, without samples and with them.
# shellcheck shell=sh
# HR_BENCH_WALL: the programs to run (all by default).

# The same text, statements and sources each time.
wall_inputs() {
    awk 'BEGIN {
        for (i = 0; i < 240000; i++) {
            x = (x * 1103515245 + 12345) % 2147483648
            printf "%d word%d line %d of text\n", x % 1000, int(x / 65536) % 500, i
        }
    }' >text
    head -c 1500000 text >text.bzip2
    head -c 400000 text >text.xz
    cat >rows.sql <<'END'
create table rows(id integer primary key, name text, value integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
    insert into rows select i, 'name' || (i * 7919 % 100003), i * 31 % 1009 from n;
select count(*), sum(value), max(name) from rows;
END
    cat >rows.py <<'END'
import json
rows = [{"id": i, "name": "name%d" % (i * 7919 % 100003), "values": [i * 31 % 1009, i / 7, None, True]} for i in range(2000)]
for _ in range(4):
    text = json.dumps(rows, indent=1)
    rows = json.loads(text)
print(len(text))
END
    cat >hello.cc <<'END'
template <int N> int sum() { return N + sum<N - 1>(); }
template <> int sum<0>() { return 0; }
int main() { return sum<100>() & 1; }
END
    gcc -O2 -fopenmp -o parallel "$root/tests/programs/parallel.c" || missed=1
}

# turn FILE COMMAND...: adds wall time and processor time of one run to the file.
turn() {
    turns=$1
    shift
    /usr/bin/time -a -o "$turns" -f '%e %U %S' "$@" >/dev/null 2>errors </dev/null || { cat errors >&2; missed=1; }
}

# medians FILE: of wall time and of processor time.
medians() {
    awk '{ print $1 }' "$1" >column
    median_of column
    awk '{ print $2 + $3 }' "$1" >column
    median_of column
}

# share_rows NAME FILE OF LIMIT: the file's medians as shares of the other one's.
share_rows() {
    medians "$2" | xargs >own
    medians "$3" | xargs >other
    read -r wall processor <own
    read -r wall_other processor_other <other
    row "$1: wall time" "$(calc %.2f "$wall / $wall_other")" ratio le "$4"
    row "$1: processor time" "$(calc %.2f "$processor / $processor_other")" ratio
}

# beside NAME LIMIT [OPTION...] -- PROGRAM [ARG...]: five turns of the program under callgrind, here, and here with samples.
beside() {
    name=$1 limit=$2 options=
    shift 2
    while [ "$1" != -- ]; do options="$options $1" && shift; done
    shift
    case " ${HR_BENCH_WALL:-$name} " in *" $name "*) ;; *) return ;; esac
    command -v "$1" >/dev/null || { echo "| $name: left out, it is not installed | | | | |"; return; }
    rm -f callgrind off sampled
    for _ in 1 2 3 4 5; do
        turn callgrind valgrind --tool=callgrind --trace-children=yes --callgrind-out-file=/dev/null "$@"
        # shellcheck disable=SC2086
        turn off "$HR" run -q --mode off $options -- "$@"
        # shellcheck disable=SC2086
        turn sampled "$HR" run -q -i 10us $options -- "$@"
    done
    share_rows "$name: as a share of callgrind's" off callgrind "$limit"
    share_rows "$name: -i 10us as a share of no samples" sampled off 1.15
}

# Every microsecond: a sample took 20 us of wall time once, and phases 3.84 times as long as without samples.
bench_wall_1us() {
    case " ${HR_BENCH_WALL:-1us} " in *' 1us '*) ;; *) return ;; esac
    rm -f off sampled
    for _ in 1 2 3 4 5; do
        turn off "$HR" run -q --mode off "$WORKLOADS/phases" 10
        turn sampled "$HR" run -q -i 1us "$WORKLOADS/phases" 10
    done
    share_rows 'phases 10: -i 1us as a share of no samples' sampled off 1.92
}

bench_wall() {
    wall_inputs
    beside phases 1 -- "$WORKLOADS/phases" 60 1
    beside bzip2 1 -- bzip2 -c text.bzip2
    beside sqlite3 1 --file "$work/rows.sql" -- sqlite3 :memory: '.read rows.sql'
    beside python3 1 --file "$work/rows.py" -- /usr/bin/python3 -S rows.py
    beside xz 1 -- xz -c text.xz
    beside gawk 1 -- gawk '{ n[$2] += $1 } END { for (word in n) print word, n[word] }' text
    OMP_NUM_THREADS=2 beside OpenMP 0.33 --env OMP_NUM_THREADS=2 -- ./parallel 30
    beside g++ 1 --mem 2G -- g++ -c hello.cc -o hello.o
    bench_wall_1us
}
