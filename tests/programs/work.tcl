# Large numbers, a timer, an exit status.
puts [expr {2**70}]
puts [lsort -integer {3 1 2}]
after 10 {puts timer; exit 3}
vwait forever
