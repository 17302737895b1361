/* The revision of the source that this program was built from: "abc1234", "abc1234-dirty",
 * "unknown". */
#pragma once

const char *revision(void);
