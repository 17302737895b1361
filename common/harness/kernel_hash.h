/* Which kernel it was: a digest of an image's PTX without comments, names of files and line
 * numbers, so that a comment more is still the same kernel. The same on every device, as long as
 * the compiler is. */
#pragma once

enum { KERNEL_HASH_BYTES = 17 };

/* 16 hexadecimal digits (FNV-1a, 64 bits) of FOLDER/IMAGE.compute_*.ptx, of the newest if there are
 * several; "" if there is none. */
const char *kernel_hash(const char *folder, const char *image, char out[KERNEL_HASH_BYTES]);
