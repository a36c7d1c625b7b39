/* The checks of hr doctor; host/doctor/doctor_examine.c lists them in one table. */
#pragma once

#include "host/doctor/doctor.h"

/* the processor */
void doctor_check_cpu(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_bare_metal(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_counters(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_clock(const struct doctor_host *h, struct doctor_finding *f);

/* KVM */
void doctor_check_linux(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_kvm(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_kvm_speed(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_vpmu(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_enable_pmu(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_mediated_pmu(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_apic(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_l1tf(const struct doctor_host *h, struct doctor_finding *f);

/* other users of the CPUs */
void doctor_check_nmi_watchdog(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_isolated(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_smt(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_governor(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_turbo(const struct doctor_host *h, struct doctor_finding *f);

/* memory, permissions, programs */
void doctor_check_hugepages(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_memory_lock(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_priority(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_qemu(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_kernel(const struct doctor_host *h, struct doctor_finding *f);
void doctor_check_libvirt(const struct doctor_host *h, struct doctor_finding *f);
