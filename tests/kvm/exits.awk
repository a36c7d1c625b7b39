# From a trace of kvm_exit, kvm_msr and kvm_inj_virq: the exits of the program's CPU by reason, one a line, "REASON COUNT",
# from the program's first exit to its last; and "sampling COUNT": those of them that sampling caused, all but the
# host's own interrupts.
# mode: overflow, where NMIs are samples; elsewhere they are the host's.
function value(key, text) {
    text = $0
    sub(".* " key " ", "", text)
    sub(/ .*/, "", text)
    return text
}
/kvm_exit: vcpu 1 / {
    count++
    reason[count] = value("reason")
    if (length(value("rip")) < 14) { # not in the kernel: 0x and fewer than 12 digits
        user[count] = 1
        last = count
    }
}
/CPU 1\/.* kvm_msr: / { reason[count] = $(NF - 3) "_" $(NF - 2) }
/CPU 1\/.* kvm_inj_virq: / { injected[count] = 1 }
END {
    for (i = 1; i <= last; i++) {
        name = reason[i]
        if (name == "interrupt" && injected[i])
            name = "expiry"
        host = name == "interrupt" || (name == "nmi" && mode != "overflow")
        if (name == "nmi" && !user[i])
            host = 1
        total[host ? "host_" name : name]++
        sampling += !host
    }
    for (name in total)
        print name, total[name]
    print "sampling", sampling + 0
}
