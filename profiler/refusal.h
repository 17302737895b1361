/* Why counters cannot be had, in a sentence that names cause and remedy. */
#pragma once

#include <stdbool.h>

/* The sentence for what `call` returned (a CUptiResult); NULL for success. */
const char *refusal(int code, const char *call);

/* The codes that have a sentence of their own, the i-th of them, or -1 past the last: for tests. */
int refusal_code(int i);

/* What cuptiProfilerDeviceSupported says no to. */
struct refusal_flags {
    bool architecture, sli, vgpu, vgpu_disabled, confidential, cmp, wsl;
};

/* The sentence for the first flag that is set, or one that says that none is. */
const char *refusal_of_flags(const struct refusal_flags *flags);

/* RmProfilingAdminOnly in a file like /proc/driver/nvidia/params: 1 admins only, 0 everyone, -1
 * not said. */
int refusal_admin_only(const char *params_path);
