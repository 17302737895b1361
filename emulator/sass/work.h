/* The work of executing machine code: instructions, where so many FLOP of tensor cores count as one. A host thread does
 * some 40 million a second. A launch with more than the large amount is not executed just to be counted. */
#pragma once

enum { SASS_FLOP_WORK = 100, SASS_LARGE_WORK = 500000000 };
