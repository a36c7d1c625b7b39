#!/bin/sh
# hr latency: traces of probes whose durations, waits and counts are known.
. "$(dirname "$0")/../lib.sh"
export PAGER=cat HOME="$work"
. "$ROOT/tests/many.sh"

# field NAME COLUMN FILE: of the row of function NAME in a table of csv.
field() { awk -F, -v name="$1" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == name { print $at[column]; exit }' "$3"; }

# One CPU, two threads.  parse: 5000 ns with a wait for a lock, 500, and 1000 with a wait for the CPU.
"$TOOLS/genprobes" a.bin <<END || exit 1
enter 1000 1000 parse 0x7f0000 5
enter 1100 1000 lock_it 0x7eff00
wait 1150 1000 202 0x5000
switch 1200 1000 1001 3
enter 1250 1001 work 0x6f0000
count 40
return 5250 1001 work 0x6f0000 7
switch 5300 1001 1000 3
syscall 1150 4200 1000 202
return 5400 1000 lock_it 0x7eff00
return 6000 1000 parse 0x7f0000 1
enter 7000 1000 parse 0x7f0000 6
return 7500 1000 parse 0x7f0000 1
enter 8000 1000 parse 0x7f0000 6
switch 8100 1000 1001 4
switch 8400 1001 1000 4
return 9000 1000 parse 0x7f0000 1
END
run_hr check a.bin
is 'check' "$status.$(sed 's/^[^:]*: \([a-z]*\):.*/\1/' out)" 0.complete
run_hr latency -f csv a.bin
is 'csv' "$(cat out)" "function,file,of,calls,left,unknown,median,p90,p99,p999,max,total,own,on_cpu,locks,conditions,joins,io,pages,for_cpu,sleep,other
parse,/bin/generated,duration_ns,3,0,0,1000,5000,5000,5000,5000,6500,2200,2100,4100,0,0,0,0,300,0,0
lock_it,/bin/generated,duration_ns,1,0,0,4300,4300,4300,4300,4300,4300,4300,200,4100,0,0,0,0,0,0,0
work,/bin/generated,duration_ns,1,0,0,4000,4000,4000,4000,4000,4000,4000,4000,0,0,0,0,0,0,0,0"
run_hr latency a.bin
like 'table' out '^ +3 +1\.000 us .* 6\.500 us +2\.200 us  parse +on CPU 32%, locks 63%, for a CPU 5%$'
like 'table: virtual time' out '^# 10 hits of 3 probed functions and places; virtual time: durations are exact$'
run_hr latency -f json --counters a.bin
is 'json' "$(jq -c '[.hits, .strays, .rows[0].function, .rows[0].median_ns, .rows[0].spent_ns.locks, .rows[0].counters[1]]' out)" \
    '[10,0,"parse",1000,4100,{"event":"cache-misses:u","median":0,"p90":40,"p99":40,"p999":40,"max":40,"total":40}]'
for sort in calls:parse median:lock_it max:parse total:parse own:lock_it name:lock_it tail:parse p99.9:parse; do
    run_hr latency --sort "${sort%:*}" -f csv a.bin
    is "sort by ${sort%:*}" "$(sed -n '2s/,.*//p' out)" "${sort#*:}"
done
run_hr latency --by callsite --function lock_it -f csv a.bin
is 'by callsite' "$(sed 1d out | cut -d, -f1,3,5)" 'lock_it,parse,1'
run_hr latency --by thread -f csv a.bin
is 'by thread' "$(sed 1d out | cut -d, -f1,3,5 | sort | tr '\n' ' ')" 'lock_it,1000,1 parse,1000,3 work,1001,1 '
run_hr latency --by process -f csv a.bin
is 'by process' "$(sed 1d out | cut -d, -f1,3,5 | sort | tr '\n' ' ')" 'lock_it,1000,1 parse,1000,3 work,1000,1 '
run_hr latency --from 6500ns -f csv a.bin
is 'from' "$(sed 1d out | cut -d, -f1,4,12)" 'parse,2,1500'
run_hr latency --thread 1001 -f csv a.bin
is 'thread' "$(sed 1d out | cut -d, -f1,4)" 'work,1'

# The worst, and why.
run_hr latency --function parse --worst 2 a.bin
like 'worst: the longest' out '^1\. parse at 1\.000 us, thread 1000: 5\.000 us, own 700 ns; median 1\.000 us$'
like 'worst: arguments' out '^  arguments 0x5, result 0x1$'
like 'worst: what is unusual' out '^  It waited 4\.100 us of 5\.000 us for 0x5000: all of what it is longer; the median waits 0 ns\.$'
like 'worst: a call' out '^  \+100 ns +4\.300 us +lock_it$'
like 'worst: a wait in it' out '^  \+200 ns +4\.100 us +waits for 0x5000$'
like 'worst: counters' out '^  cache-misses +40  median +0$'
run_hr latency --function parse --worst 5 -f json a.bin
is 'worst: json' "$(jq -c '[.median_ns, (.worst | length), .worst[0].duration_ns, .worst[0].steps[1]]' out)" \
    '[1000,3,5000,{"after_ns":200,"wait":"locks","system_call":"futex","address":20480,"duration_ns":4100,"for_cpu_ns":0,"name":"0x5000","holder":null}]'
run_hr latency --correlate parse a.bin
like 'correlate: too few' out '^# fewer than 30 invocations: these figures may be chance$'
like 'correlate' out '^ 1\.000 +100\.0% +1,000  event   instructions$'

# Waits whose system call is only known at its end; a page fault; the end of a thread.
"$TOOLS/genprobes" w.bin <<END || exit 1
enter 1000 1 read_it 0x7f0000
switch 1100 1 0 3
switch 2100 0 1 5
switch 2200 1 0 3
switch 2300 0 1 5
syscall 1050 1260 1 0
return 2400 1 read_it 0x7f0000
enter 3000 1 nap 0x7f0000
switch 3100 1 0 3
switch 4100 0 1 5
syscall 3050 1060 1 230
return 4200 1 nap 0x7f0000
enter 5000 1 fault 0x7f0000
syscall 5050 10 1 39
switch 5100 1 0 3
switch 5300 0 1 5
return 5400 1 fault 0x7f0000
enter 6000 1 last 0x7f0000
switch 6100 1 0 2
END
run_hr latency -f csv w.bin
is 'waits: two in a read' "$(grep ^read_it out | cut -d, -f14-)" '300,0,0,0,1100,0,0,0,0'
is 'waits: sleep' "$(grep ^nap out | cut -d, -f14-)" '200,0,0,0,0,0,0,1000,0'
is 'waits: no system call' "$(grep ^fault out | cut -d, -f14-)" '200,0,0,0,0,0,0,0,200'
is 'the end of a thread' "$(grep ^last out | cut -d, -f4-6)" '0,1,0'
run_hr latency w.bin
like 'left: said' out '^# 1 invocations were left without a return: '

# More threads than are followed at a time: those that have ended make room.
awk 'BEGIN { for (i = 1; i <= 20000; i++) { print "enter", 10 * i, i, "f 0x7f0000"; print "return", 10 * i + 3, i, "f 0x7f0000"
    print "enter", 10 * i + 4, i, "g 0x7f0000"; print "switch", 10 * i + 5, i, i + 1, 2 } }' >t.txt
"$TOOLS/genprobes" t.bin <t.txt || exit 1
run_hr latency -f csv t.bin
is 'many threads' "$(sed 1d out | cut -d, -f1,4-6,12 | sort | tr '\n' ' ')" 'f,20000,0,0,60000 g,0,20000,0,0 '

# longjmp over two functions; a loop to the first instruction; recursion; a coroutine on another stack.
"$TOOLS/genprobes" j.bin <<END || exit 1
enter 1000 1 outer 0x7f0000
enter 1100 1 middle 0x7eff00
enter 1200 1 inner 0x7efe00
return 1500 1 outer 0x7f0000
enter 2000 1 loops 0x7f0000
enter 2100 1 loops 0x7f0000
return 2200 1 loops 0x7f0000
enter 3000 1 fib 0x7f0000
enter 3100 1 fib 0x7eff00
return 3200 1 fib 0x7eff00
return 3300 1 fib 0x7f0000
enter 4000 1 main_routine 0x7f0000
enter 4100 1 co_routine 0x99990000
return 4200 1 main_routine 0x7f0000
enter 4300 1 main_routine 0x7f0000
return 4500 1 co_routine 0x99990000
return 4600 1 main_routine 0x7f0000
END
run_hr latency -f csv j.bin
is 'longjmp' "$(grep -E '^(outer|middle|inner),' out | cut -d, -f1,4,5,12 | sort | tr '\n' ' ')" 'inner,0,1,0 middle,0,1,0 outer,1,0,500 '
is 'a loop is one invocation' "$(grep ^loops out | cut -d, -f4,12)" 1,200
is 'recursion' "$(grep ^fib out | cut -d, -f4,12,13)" 2,400,300
is 'coroutines' "$(grep -E '_routine,' out | cut -d, -f1,4,5,12 | sort | tr '\n' ' ')" 'co_routine,1,0,400 main_routine,2,0,500 '

# Hits that are missing: dropped ones, a chunk.  What is open at the end of the program is left.
"$TOOLS/genprobes" l.bin <<END || exit 1
enter 1000 1 f 0x7f0000
lost 1500 7
return 2000 1 f 0x7f0000
enter 3000 1 f 0x7f0000
return 3300 1 f 0x7f0000
enter 4000 1 f 0x7f0000
END
run_hr stat l.bin
like 'lost: stat' out '^ +7  lost +58\.3 % of all: the ring was full$'
run_hr check l.bin
like 'lost: check' out '^  lost: CPU 0, 7 samples and hits between '
run_hr latency -f csv l.bin
is 'lost' "$(sed 1d out | cut -d, -f4-6,12)" 1,1,1,300
is 'lost: said' "$("$HR" latency l.bin | grep -c 'the end is not known\|have no entry')" 2
"$TOOLS/genprobes" --drop d.bin <<END || exit 1
enter 1000 1 f 0x7f0000
chunk
return 2000 1 f 0x7f0000
enter 2500 1 f 0x7f0000
chunk
return 3300 1 f 0x7f0000
enter 4000 1 f 0x7f0000
return 4100 1 f 0x7f0000
END
run_hr latency -f csv d.bin
is 'a chunk is missing' "$(sed 1d out | cut -d, -f4-6,12)" 1,0,1,100
like 'a chunk is missing: said' err incomplete

# Threads move between CPUs, whose chunks are in another order in the file; against what a program knows.
python3 - <<'END'
import random
random.seed(3)
lines, truth, now = [], {}, {}
threads = {t: [] for t in range(10, 16)}
own = {}
time = 0
where = {t: t % 4 for t in threads}
away = {t: [0, 0] for t in threads}
for n in range(20000):
    t = random.choice(list(threads))
    time += random.randrange(1, 50)
    stack = threads[t]
    if random.random() < 0.05:  # to another CPU, through a wait for it
        lines.append((where[t], f"switch {time} {t} 0 4"))
        start = time
        time += random.randrange(1, 90)
        where[t] = random.randrange(4)
        lines.append((where[t], f"switch {time} 0 {t} 5"))
        away[t][0] += time - start
    elif stack and (len(stack) > 8 or random.random() < 0.5):
        f, sp, begin, waited = stack.pop()
        lines.append((where[t], f"return {time} {t} {f} {sp} 1"))
        row = truth.setdefault(f, [0, 0, 0, 0])
        row[0] += 1
        row[1] += time - begin
        row[2] = max(row[2], time - begin)
        row[3] += away[t][0] - waited
    else:
        f = random.choice("abcde")
        sp = (stack[-1][1] if stack else 0x7f000000 + t * 0x2000000) - random.randrange(16, 400, 8)
        stack.append((f, sp, time, away[t][0]))
        lines.append((where[t], f"enter {time} {t} {f} {sp} 1"))
with open("m.txt", "w") as out:
    for cpu in (2, 0, 3, 1):  # all of a CPU's, before the next one's
        print("cpu", cpu, file=out)
        for i, line in enumerate(line for c, line in lines if c == cpu):
            print(line, file=out)
            if i % 700 == 699:
                print("chunk", file=out)
with open("m.truth", "w") as out:
    for f in sorted(truth):
        print(f, *truth[f], file=out)
open_ones = sum(len(s) for s in threads.values())
print(open_ones, file=open("m.open", "w"))
END
"$TOOLS/genprobes" m.bin <m.txt || exit 1
run_hr latency -f csv m.bin
is 'several CPUs: order' "$(sed 1d out | awk -F, '{ print $1, $4, $12, $11, $20 }' | sort)" "$(cat m.truth)"
is 'several CPUs: what is open at the end' "$(awk -F, 'NR > 1 { left += $5; open += $6 } END { print left + 0, open }' out)" "$(cat m.open) 0"
"$HR" latency -f json m.bin >one.json
is 'several CPUs: nothing is stray' "$(jq -c '[.strays, .too_deep, .unused]' one.json)" '[0,0,0]'
is 'several CPUs: again' "$("$HR" latency -f json m.bin | cmp - one.json && echo same)" same

# What threads wait for, and for how long they waited for a CPU after they were woken.
"$TOOLS/genprobes" k.bin <<END || exit 1
enter 1000 1 joins 0x7f0000
wait 1100 1 202 0x5000 9 2
switch 1100 1 2 3
wake 1600 1 1500
switch 1600 2 1 4 2
syscall 1050 600 1 202
return 1700 1 joins 0x7f0000
enter 2000 1 signalled 0x7f0000
wait 2100 1 202 0x5100 9
switch 2100 1 2 3
wake 2900 1 2400
switch 2900 2 1 3 2
syscall 2050 900 1 202
return 3000 1 signalled 0x7f0000
enter 4000 1 pthread_rwlock_rdlock 0x7f0000
wait 4100 1 202 0x5200 9
switch 4100 1 0 3
wake 4200 1 4200
switch 4200 0 1 5 2
syscall 4050 200 1 202
return 4300 1 pthread_rwlock_rdlock 0x7f0000
enter 5000 1 __pthread_barrier_wait 0x7f0000
wait 5100 1 202 0x5300 0
switch 5100 1 0 3
switch 5400 0 1 5 2
return 5500 1 __pthread_barrier_wait 0x7f0000
enter 6000 1 sleeps 0x7f0000
wait 6100 1 230 0
switch 6100 1 2 3
wake 6900 1 6200
switch 6900 2 1 3
return 7000 1 sleeps 0x7f0000
enter 8000 1 reads 0x7f0000
gap 8100 1 8300 6
gap 8400 1 8500 6
syscall 8050 500 1 0
gap 8600 1 8900 6
gap 8950 1 8990 2
return 9000 1 reads 0x7f0000
enter 10000 1 locked 0x7f0000
wait 10100 1 202 0x5400
switch 10100 1 2 3
wake 10500 1 10050
switch 10500 2 1 3
return 10600 1 locked 0x7f0000
enter 11000 2 open_at_exit 0x6f0000
switch 12000 2 1 4
END
run_hr check k.bin
is 'kinds: check' "$status.$(sed 's/^[^:]*: \([a-z]*\):.*/\1/' out)" 0.complete
run_hr latency -f csv k.bin
is 'kinds: on CPU, locks, conditions, joins, I/O, pages, for a CPU, sleep, other' "$(sed 1d out | cut -d, -f1,4-6,14- | sort)" "__pthread_barrier_wait,1,0,0,200,0,300,0,0,0,0,0,0
joins,1,0,0,200,0,0,400,0,0,100,0,0
locked,1,0,0,200,400,0,0,0,0,0,0,0
open_at_exit,0,1,0,0,0,0,0,0,0,0,0,0
pthread_rwlock_rdlock,1,0,0,200,100,0,0,0,0,0,0,0
reads,1,0,0,400,0,0,0,300,300,0,0,0
signalled,1,0,0,200,0,300,0,0,0,500,0,0
sleeps,1,0,0,200,0,0,0,0,0,700,100,0"
run_hr latency --function joins --worst 1 k.bin
like 'kinds: a join' out '^  \+100 ns +400 ns +waits for the end of thread 2, woken by thread 2; then 100 ns for a CPU$'
run_hr latency --function signalled --worst 1 k.bin
like 'kinds: a condition' out '^  \+100 ns +300 ns +waits for 0x5100, woken by thread 2; then 500 ns for a CPU$'
run_hr latency --function pthread_rwlock_rdlock --worst 1 k.bin
like 'kinds: a lock' out '^  \+100 ns +100 ns +waits for 0x5200, held by thread 2$'
run_hr latency --function reads --worst 1 k.bin
like 'kinds: pages' out '^  \+600 ns +300 ns +waits for pages of files$'
run_hr latency --to 11500ns --from 10500ns -f csv k.bin
is 'kinds: the end is not selected' "$(grep ^open_at out | cut -d, -f4-6)" 0,0,1

# Whose a lock is that lies in a block of memory: of the last allocation there, unless it was freed.
"$TOOLS/genprobes" h.bin <<END || exit 1
enter 1000 1 make_cache 0x7f0000
enter 1100 1 malloc 0x7effe0 64
return 1200 1 malloc 0x7effe0 0x50000
return 1300 1 make_cache 0x7f0000
enter 1400 1 __libc_malloc 0x7f0000 200
return 1500 1 __libc_malloc 0x7f0000 0x50100
enter 2000 1 first 0x7f0000
wait 2100 1 202 0x50010
switch 2100 1 0 3
switch 2200 0 1 5
return 2300 1 first 0x7f0000
enter 3000 1 second 0x7f0000
wait 3100 1 202 0x501c0
switch 3100 1 0 3
switch 3200 0 1 5
return 3300 1 second 0x7f0000
enter 4000 1 beyond 0x7f0000
wait 4100 1 202 0x50040
switch 4100 1 0 3
switch 4200 0 1 5
return 4300 1 beyond 0x7f0000
enter 4400 1 free 0x7f0000 0x50000
return 4500 1 free 0x7f0000
enter 5000 1 freed 0x7f0000
wait 5100 1 202 0x50010
switch 5100 1 0 3
switch 5200 0 1 5
return 5300 1 freed 0x7f0000
END
for lock in 'first:0x50010 \(0x10 into 64 bytes of make_cache\)' 'second:0x501c0 \(0xc0 into 200 bytes\)' beyond:0x50040 freed:0x50010; do
    run_hr latency --function "${lock%%:*}" --worst 1 h.bin
    like "a lock in a block: ${lock%%:*}" out "^  \\+100 ns +100 ns +waits for ${lock#*:}\$"
done

# Who held a lock.  Thread 2 holds it in evict, called by lookup, and hands it to 3, which hands it to 4.
"$TOOLS/genprobes" h.bin <<END || exit 1
enter 1000 2 lookup 0x2f0000
enter 1100 2 evict 0x2eff00
switch 1200 2 3 4
request 1210 3 77 1
enter 1220 3 lookup 0x3f0000
wait 1300 3 202 0x5000
switch 1300 3 4 3
request 1310 4 78 1
enter 1320 4 lookup 0x4f0000
wait 1400 4 202 0x5000
switch 1400 4 2 3
enter 1410 2 compute 0x2efe00
return 1420 2 compute 0x2efe00
return 6000 2 evict 0x2eff00
syscall 6010 10 2 202
switch 6050 2 3 4 2
syscall 1300 4760 3 202
syscall 6070 5 3 202
return 6100 3 lookup 0x3f0000
request 6110 3 77 2
switch 6200 3 4 4 3
syscall 1400 4810 4 202
return 6300 4 lookup 0x4f0000
request 6310 4 78 2
switch 6400 4 2 4
return 6500 2 lookup 0x2f0000
enter 6600 2 lookup 0x2f0000
return 6700 2 lookup 0x2f0000
enter 6800 2 lookup 0x2f0000
return 6900 2 lookup 0x2f0000
enter 7000 2 lookup 0x2f0000
return 7100 2 lookup 0x2f0000
END
run_hr latency --function lookup --worst 3 h.bin
like 'holder: the thread that woke it, in what it was then' out '^  \+80 ns +4\.750 us +waits for 0x5000, held by thread 2 in evict$'
like 'holder: not the one that waited itself' out '^  \+80 ns +4\.800 us +waits for 0x5000, held by thread 2 in evict$'
like 'holder: said' out '^  It waited 4\.750 us of 4\.880 us for 0x5000, held by thread 2 in evict: '
like 'holder: waits for a CPU' out '^  \+200 ns +200 ns +waits for a CPU$'
COLUMNS=1000 "$HR" latency h.bin >out
like 'holder: below the table' out '^# lookup: the longest call took 5\.500 us: '
"$TOOLS/genprobes" h2.bin <<END || exit 1
enter 1000 2 evict 0x2f0000
enter 1001 3 lookup 0x3f0000
wait 1100 3 202 0x5000
switch 1100 3 2 3
return 3000 2 evict 0x2f0000
syscall 3010 10 2 202
switch 3100 2 3 4 2
syscall 1100 2010 3 202
return 3200 3 lookup 0x3f0000
enter 4000 3 lookup 0x3f0000
return 4010 3 lookup 0x3f0000
enter 5000 3 lookup 0x3f0000
wait 5010 3 202 0x5028 9
switch 5010 3 2 3
enter 5020 2 put 0x2f0000
syscall 5030 10 2 202
switch 5100 2 3 4 2
return 5200 3 lookup 0x3f0000
END
"$HR" latency --function lookup h2.bin >out
is 'holder: below the table' "$(sed -n 's/^# //p' out | tr '\n' ' ' | grep -c 'lookup: the longest call took 2.199 us: 2.000 us waiting for 0x5000, held by thread 2 in evict; 199 ns on CPU')" 1
run_hr latency -f json --function lookup h2.bin
is 'holder: json' "$(jq -c '.rows[0].tail | [.calls, .total_ns, .parts[0].what, .parts[0].holder]' out)" \
    '[1,2199,"waiting for 0x5000",{"tid":2,"function":"evict","held":true}]'
run_hr latency --function lookup --worst 2 h2.bin
like 'no lock: who woke it' out '^  \+10 ns +90 ns +waits for 0x5028, woken by thread 2$'

# long RETURNS: as before, but hundreds of other waits begin, and evict calls others: what is not kept that long is
# what is open since.
long() {
    awk -v returns="$1" 'BEGIN { print "enter 1000 2 lookup 0x2f0000"; print "enter 1100 2 evict 0x2eff00"; print "enter 1150 3 serve 0x3f0000"
        print "enter 1160 4 other 0x4f0000"; print "wait 1200 3 202 0x5000"; print "switch 1200 3 4 3"
        for (t = 2000; t < 8000; t += 20) { print "switch", t, 4, 2, 3; print "enter", t + 5, 2, "compute 0x2efe00"
            print "return", t + 6, 2, "compute 0x2efe00"; print "switch", t + 10, 2, 4, 4 }
        print "switch 8000 4 2 4"
        if (returns) print "return 8010 2 evict 0x2eff00"
        print "syscall 8020 1 2 202"; print "switch 8030 2 3 4 2"; print "return 8040 3 serve 0x3f0000" }'
}
long 0 | "$TOOLS/genprobes" long.bin || exit 1
run_hr latency --function serve --worst 1 long.bin
like 'holder: long ago, and still there' out '^  .* waits for 0x5000, held by thread 2 in evict$'
long 1 | "$TOOLS/genprobes" long.bin || exit 1
run_hr latency --function serve --worst 1 long.bin
like 'holder: long ago, of what is still open' out '^  .* waits for 0x5000, held by thread 2 in lookup$'

# Correlation: of 200 invocations those that call slow take longer; misses say nothing.
awk 'BEGIN { srand(2); t = 1000; for (i = 0; i < 200; i++) { print "count", t * 3 % 7001 + 7001 * i; print "enter", t, 1, "f 0x7f0000", i; d = i * 37 % 101
    print "enter", t + 10, 1, "slow 0x7eff00"; print "return", t + 10 + 10 * d, 1, "slow 0x7eff00"; t += 500 + 10 * d; print "return", t, 1, "f 0x7f0000"; t += 100 } }' >c.txt
"$TOOLS/genprobes" c.bin <c.txt || exit 1
run_hr latency --correlate f -f json c.bin
is 'correlate: all invocations' "$(jq -c '[.invocations, .few]' out)" '[200,false]'
run_hr latency -f json c.bin
is 'tail: in which function it computes' "$(jq -c '.rows[] | select(.function == "f") | .tail | [.calls, .total_ns, (.parts[0] | .what, (.functions[] | .function, .ns))]' out)" \
    '[2,3000,"on CPU","slow",2000,"f",1000]'
"$HR" latency c.bin >out
like 'tail: in which function, for people' out '^# f: the 2 calls above p99 took 3\.000 us: .* on CPU, .* of it in slow$'
run_hr latency --correlate f -f json c.bin
is 'correlate: the callee explains all' "$(jq -c '.factors[] | select(.factor == "slow") | [.kind, .rank_correlation, .variance_share]' out)" '["callee",1,1]'
is 'correlate: waits explain nothing' "$(jq -c '[.factors[] | select(.kind == "wait") | .rank_correlation] | add' out)" 0
run_hr latency --function f --worst 1 c.bin
like 'worst: the callee' out '^  It was in slow for 1\.000 us: all of what it is longer; the median is 500 ns\.$'

# Requests (1 begin, 2 end, 3 join, 4 leave, 5 block).  77: through a queue, with a wait for the lock that thread 2 holds for request 78; then two threads at once.
# 78: one thread.  The second 78: its thread computes.  79 does not end; 80 has no begin.
"$TOOLS/genprobes" r.bin <<END || exit 1
request 1000 1 77 1
request 1100 1 77 5
request 1200 2 78 1
enter 1250 2 evict 0x2f0000
switch 1300 2 3 4
request 1500 3 77 3
enter 1600 3 serve 0x3f0000
wait 1700 3 202 0x5000
switch 1700 3 2 3
return 2700 2 evict 0x2f0000
syscall 2710 5 2 202
request 2800 2 78 2
switch 2800 2 3 4 2
syscall 1700 1120 3 202
request 2900 4 77 3
wait 2950 4 0 0
switch 2950 4 0 3
request 3000 3 0 4
request 3100 3 77 3
request 3300 3 77 2
return 3400 3 serve 0x3f0000
switch 3500 0 4 5
syscall 2950 560 4 0
request 4000 1 78 1
request 4100 1 78 2
request 5000 1 79 1
request 5100 1 80 2
request 5200 1 81 3
END
run_hr latency --by request -f csv r.bin
is 'requests: csv' "$(cat out)" "requests,unended,unknown,strays,median,p90,p99,p999,max,total,on_cpu,locks,conditions,joins,io,pages,for_cpu,sleep,other,queued
3,1,0,1,1600,2300,2300,2300,2300,4000,2050,1100,0,0,350,0,400,0,0,400"
run_hr latency --by request r.bin
like 'requests: table' out '^ +3 +1\.600 us .* 4\.000 us  on CPU 48%, locks 26%, I/O 8%, for a CPU 9%, queued 9%$'
like 'requests: not ended' out '^# 1 request began and did not end; it is not counted$'
like 'requests: not begun' out '^# 1 end has no begin in what was read$'
like 'requests: joins' out '^# 1 join is of a request that was not open$'
run_hr latency --request 77 r.bin
is 'a request' "$(cat out)" "1. request 77 at 1.000 us: 2.300 us; median 2.300 us
  It waited 1.100 us of 2.300 us for 0x5000, held by thread 2 in evict, for request 78.
  on CPU 29%, locks 42%, I/O 13%, queued 15%
  +0 ns                  thread 1     begins it
  +100 ns                thread 1     lets it wait
  +500 ns                thread 3     joins it
  +600 ns     1.400 us   thread 3     serve, which has not returned
  +700 ns     1.100 us   thread 3       waits for 0x5000, held by thread 2 in evict, for request 78
  +1.900 us              thread 4     joins it
  +1.950 us   350 ns     thread 4     waits in read
  +2.000 us              thread 3     leaves it
  +2.100 us              thread 3     joins it
  +2.300 us              thread 3     ends it"
run_hr latency --request 78 -f json r.bin
is 'a number that is used again' "$(jq -c '[.requests, (.slowest[] | .start_ns, .duration_ns, .spent_ns.on_cpu)]' out)" '[2,1200,1600,1200,4000,100,100]'
run_hr latency --slowest 2 r.bin
is 'the slowest' "$(grep -o '^[0-9]*\. request [0-9]* at [^;]*' out | tr '\n' ';')" '1. request 77 at 1.000 us: 2.300 us;2. request 78 at 1.200 us: 1.600 us;'
like 'the slowest: computing' out '^ +\+50 ns +1\.450 us +thread 2 +evict$'
run_hr latency --slowest 2 -f json r.bin
is 'the slowest: json' "$(jq -c '[.requests, .median_ns, .slowest[0].request, .slowest[0].steps[4].holder]' out)" \
    '[3,1600,77,{"tid":2,"function":"evict","held":true,"request":78}]'
run_hr latency --by request -f json r.bin
is 'requests: json' "$(jq -c '[.requests, .unended, .strays, .stray_joins, .spent_ns.queued, .tail.parts[0].what, .tail.parts[0].holder.function]' out)" \
    '[3,1,1,1,400,"waiting for 0x5000","evict"]'
run_hr latency --by request --to 3900ns -f csv r.bin
is 'requests: a part of the run' "$(sed 1d out | cut -d, -f1-4,10)" 2,0,0,0,3900
# A begin of what is open; a thread that ends; lost records.
"$TOOLS/genprobes" s.bin <<END || exit 1
request 1000 1 5 1
request 1100 1 5 1
switch 1200 1 0 2
request 2000 2 5 1
request 2100 2 5 2
request 3000 2 6 1
lost 3100 4
request 3200 2 6 2
END
run_hr latency --by request -f csv s.bin
is 'requests: odd ones' "$(sed 1d out | cut -d, -f1-4,10,11)" 1,2,1,1,100,100
# Many that are open, and many steps.
awk 'BEGIN { for (i = 1; i <= 50000; i++) print "request", 10 * i, 1, i, 1
    for (i = 1; i <= 3000; i++) { print "enter", 1000000 + 10 * i, 1, "f 0x7f0000"; print "return", 1000005 + 10 * i, 1, "f 0x7f0000" }
    for (i = 1; i <= 50000; i++) print "request", i == 50000 ? 3000000 : 2000000 + 10 * i, 2, i, 2 }' >o.txt
"$TOOLS/genprobes" o.bin <o.txt || exit 1
run_hr latency --slowest 1000 -f json o.bin
is 'requests: many' "$(jq -c '[.requests, (.slowest | length), .slowest[0].duration_ns, ([.slowest[].missing_steps] | max)]' out)" '[50000,1000,2500000,1978]'

# Many: percentiles are those of all, in little memory.
"$TOOLS/genprobes" --many 2000000 n.bin || exit 1
run_hr latency -f csv n.bin
is 'many: calls' "$(sed 1d out | cut -d, -f1,4 | sort | tr '\n' ' ')" 'first,500000 middle,500000 outer,500000 second,500000 '
run_hr latency -f json n.bin
is 'many: exact' "$(jq -c '[.rows[].exact] | all' out)" true
is 'many: memory' "$((taken < 60000))" 1

# The other readers.
"$TOOLS/gentrace" 1000 none.bin || exit 1
run_hr stat --json a.bin
is 'stat' "$(jq -c '.probes' out)" '{"functions":3,"points":6,"hits":10,"entered":5,"returned":5,"reached":0,"points_never_reached":0,"functions_never_reached":0}'
run_hr stat --json "$ROOT/tests/golden/probes.bin"
is 'stat: places, requests' "$(jq -c '[.probes.functions, .probes.hits, .probes.reached, .requests]' out)" '[3,60,1,{"begun":1,"ended":1}]'
run_hr stat w.bin
like 'stat: for people' out '^ +7  hits of probes +of 4 functions and places; '
run_hr stat r.bin
like 'stat: requests, for people' out "^ +4  requests +4 ended; 'hr latency --by request' shows durations$"
run_hr stat --json none.bin
is 'stat: no probes' "$(jq -c '[.probes, .requests]' out)" '[null,null]'
"$HR" dump -f records "$ROOT/tests/golden/probes.bin" >records
like 'dump: functions' records '^  probe-function number=1 kind=1 address=0x401100 bytes=32 name="inner" path="/usr/bin/golden"$'
like 'dump: points' records '^  probe-points first=0 count=5 points=0x401000:0,0x40107f:0,0x401100:1,0x40111f:1,0x401234:2$'
like 'dump: a hit' records '^  hit time=5000351 tid=1 sp=0x7fffffffdf80 point=2 entered function="inner" counters=351,117 arguments=0x1,0x1$'
like 'dump: a request' records '^  request time=5000100 tid=1 kind=1 request=77$'
like 'dump: a wait' records '^  wait time=5005000 tid=1 number=202 operation=0 address=0x7ffff7001000 joins=2$'
like 'dump: a wake' records '^  wake time=5005900 tid=1 woken=5005600$'
is 'dump: all hits' "$(grep -c '^  hit ' records)" 60
run_hr check "$ROOT/tests/golden/probes.bin"
is 'check: hits' "$status.$(grep -c ' 20 samples, 60 hits of probes, 0 lost$' out)" 0.1

# Functions of instrumented programs: their numbers come as the program runs, their names from the load map.
"$HR" dump -f records "$ROOT/tests/golden/calls.bin" >records
like 'dump: a called function' records '^  called number=1 address=0x401100 tid=1 time=5005100$'
like 'dump: a call' records '^  hit time=5005600 tid=1 sp=0x7ffff70fffe0 point=2 entered function="0x401100" counters= '
like 'dump: how calls were recorded' records '^  calls scans=7 scan_ticks=6000 longest_ticks=2000 missed=3 beyond=4 strays=5 unnumbered=6 refused=8$'
run_hr check "$ROOT/tests/golden/calls.bin"
is 'check: calls' "$status.$(grep -c ' 0 samples, 8 hits of probes, 0 lost$' out)" 0.1
run_hr stat --json "$ROOT/tests/golden/calls.bin"
is 'stat: calls' "$(jq -c '[.probes.functions, .probes.functions_never_reached, .calls.missed, .calls.longest_ns]' out)" '[2,0,3,2000]'
run_hr latency --format csv "$ROOT/tests/golden/calls.bin"
is 'called functions' "$(sed 1d out | cut -d, -f4 | tr '\n' ' ')" '3 1 '
run_hr latency "$ROOT/tests/golden/calls.bin"
like 'what scans are worth' out '3 calls began and ended between two scans'

# What cannot be shown.
run_hr latency none.bin
is 'no probes' "$status.$(cat err)" "1.hr: none.bin: no probes; place some with 'hr run --probe FUNCTION'"
run_hr latency --function nothing a.bin
is 'no such function' "$status" 2
run_hr latency --worst 3 a.bin
is 'worst needs a function' "$status" 2
run_hr latency --worst 0 --function parse a.bin
is 'worst needs a number' "$status" 2
run_hr latency --by colour a.bin
is 'by what' "$status" 2
run_hr latency --from 1s a.bin
is 'nothing selected' "$status" 1
run_hr latency --by request a.bin
is 'no requests' "$status.$(cat err)" "1.hr: a.bin: no requests; the program says them by libhr: hr_request_begin() and hr_request_end()"
run_hr latency --request 12345 r.bin
is 'no such request' "$status.$(cat err)" '1.hr: r.bin: no request has the number 12345'
for wrong in '--request x' '--request -1' '--slowest 0' '--slowest 3 -f csv' '--by request --function serve' '--by request --counters' '--by request --worst 3' '--slowest 2 --correlate serve'; do
    # shellcheck disable=SC2086
    run_hr latency $wrong r.bin
    is "refused: $wrong" "$status" 2
done

# Forged traces end in a message, not in a crash.
i=0
while [ "$i" -lt 40 ]; do
    i=$((i + 1))
    "$TOOLS/mutate" "$i" "$ROOT/tests/golden/calls.bin" forged.bin || exit 1
    run_hr latency forged.bin
    [ "$status" -le 2 ] || echo "seed $i of calls" >>crashed
    "$TOOLS/mutate" "$i" "$ROOT/tests/golden/probes.bin" forged.bin || exit 1
    for options in '' '--counters --by thread' '--function outer --worst 3' '--correlate outer' '--by request' '--slowest 3 -f json'; do
        # shellcheck disable=SC2086
        run_hr latency $options forged.bin
        [ "$status" -le 2 ] || echo "seed $i $options" >>crashed
    done
done
is 'forged traces' "$(cat crashed 2>/dev/null)" ''
done_testing
