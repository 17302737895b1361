/* Named lists of modifiers, for the patterns of the form tables: "(a|b)" one of, "{.a|.b}" one of
 * or none. */
#pragma once

/* comparisons */
#define INT_RELATION  "(eq|ne|lt|le|gt|ge|lo|ls|hi|hs)"
#define REAL_RELATION "(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan)"
#define WITH          "{.and|.or|.xor}"

/* rounding and types */
#define ROUND        "{.rn|.rz|.rm|.rp}"
#define ROUNDED      "(rn|rz|rm|rp)"
#define CVT_ROUND    "{.rn|.rz|.rm|.rp|.rna|.rni|.rzi|.rmi|.rpi}"
#define INTEGERS     "(s32|u32|s64|u64|s16|u16)"
#define BITS         "(b32|b64|b16)"
#define HALVES       "(f16|f16x2|bf16|bf16x2)"
#define CVT_TO       "(f16|f32|f64|bf16|tf32|u8|s8|u16|s16|u32|s32|u64|s64)"
#define CVT_FROM     "(f16|f32|f64|bf16|u8|s8|u16|s16|u32|s32|u64|s64)"
#define MEMORY_TYPES "(b8|u8|s8|b16|u16|s16|f16|b32|u32|s32|f32|b64|u64|s64|f64)"
#define ATOMIC_TYPES "(b32|u32|s32|f32|b64|u64|s64|f64|f16|f16x2|bf16|bf16x2)"
#define WORD_TYPES   "(b32|u32|s32|f32|b64|u64|s64|f64)"

/* spaces and scopes */
#define LD_SPACE                                                                                   \
    "{.global|.shared|.shared::cta|.shared::cluster|.local|.const|.param|.param::entry}"
#define ST_SPACE     "{.global|.shared|.shared::cta|.shared::cluster|.local|.param}"
#define ATOMIC_SPACE "{.global|.shared|.shared::cta|.shared::cluster}"
#define MATRIX_SPACE "{.shared|.shared::cta|.global}"
#define ANY_SHARED   "{.shared|.shared::cta|.shared::cluster}"
#define OWN_SHARED   "{.shared|.shared::cta}"
#define SCOPE        "{.cta|.cluster|.gpu|.sys}"

/* caches */
#define L1_EVICT                                                                                   \
    "{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}"
#define L2_HINT     "{.L2::cache_hint}"
#define L2_PRIORITY "(L2::evict_last|L2::evict_first|L2::evict_normal|L2::evict_unchanged)"
#define L2_BYTES    "{.L2::64B|.L2::128B|.L2::256B}"

/* tensor cores and TMA */
#define WMMA_SHAPES "(m16n16k16|m32n8k16|m8n32k16)"
#define WMMA_TILES  "(m16n16k16|m32n8k16|m8n32k16|m16n16k8)"
#define LAYOUT      "(row|col)"
#define WGMMA_N                                                                                    \
    "(8|16|24|32|40|48|56|64|72|80|88|96|104|112|120|128|136|144|152|160|168|176|184|192|200|208|" \
    "216|224|232|240|248|256)"
#define WGMMA_TYPES "(f16|bf16|tf32|e4m3|e5m2|s8|u8)"
#define RANKS       "(1d|2d|3d|4d|5d)"
#define COUNTED     "mbarrier::complete_tx::bytes"
