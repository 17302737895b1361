/* The operand lists of m64nNk16 with N / 2 accumulator registers, for every N from 8 to 256.
 *
 *   %0 - %3   A fragment (if A comes from registers)      %4  A descriptor (if from shared memory)
 *   %5        B descriptor                                %6  scale-d: 0 gives D = A B, 1 gives D += A B
 *   %7 ...    accumulators d[0][0], d[0][1], ..., d[N / 8 - 1][3]
 *
 * The inputs come first, as "+" operands, because nvcc knows operands by number only and the numbers of
 * what follows the accumulators would depend on N. D_LIST is the text, D_OPERANDS the constraints. */
#pragma once

#define D_BLOCK(i) "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])

#define D_TEXT_0 "%7,%8,%9,%10"
#define D_OPS_0 D_BLOCK(0)
#if TILE_N > 8
#define D_TEXT_1 D_TEXT_0 ",%11,%12,%13,%14"
#define D_OPS_1 D_OPS_0, D_BLOCK(1)
#else
#define D_TEXT_1 D_TEXT_0
#define D_OPS_1 D_OPS_0
#endif
#if TILE_N > 16
#define D_TEXT_2 D_TEXT_1 ",%15,%16,%17,%18"
#define D_OPS_2 D_OPS_1, D_BLOCK(2)
#else
#define D_TEXT_2 D_TEXT_1
#define D_OPS_2 D_OPS_1
#endif
#if TILE_N > 24
#define D_TEXT_3 D_TEXT_2 ",%19,%20,%21,%22"
#define D_OPS_3 D_OPS_2, D_BLOCK(3)
#else
#define D_TEXT_3 D_TEXT_2
#define D_OPS_3 D_OPS_2
#endif
#if TILE_N > 32
#define D_TEXT_4 D_TEXT_3 ",%23,%24,%25,%26"
#define D_OPS_4 D_OPS_3, D_BLOCK(4)
#else
#define D_TEXT_4 D_TEXT_3
#define D_OPS_4 D_OPS_3
#endif
#if TILE_N > 40
#define D_TEXT_5 D_TEXT_4 ",%27,%28,%29,%30"
#define D_OPS_5 D_OPS_4, D_BLOCK(5)
#else
#define D_TEXT_5 D_TEXT_4
#define D_OPS_5 D_OPS_4
#endif
#if TILE_N > 48
#define D_TEXT_6 D_TEXT_5 ",%31,%32,%33,%34"
#define D_OPS_6 D_OPS_5, D_BLOCK(6)
#else
#define D_TEXT_6 D_TEXT_5
#define D_OPS_6 D_OPS_5
#endif
#if TILE_N > 56
#define D_TEXT_7 D_TEXT_6 ",%35,%36,%37,%38"
#define D_OPS_7 D_OPS_6, D_BLOCK(7)
#else
#define D_TEXT_7 D_TEXT_6
#define D_OPS_7 D_OPS_6
#endif
#if TILE_N > 64
#define D_TEXT_8 D_TEXT_7 ",%39,%40,%41,%42"
#define D_OPS_8 D_OPS_7, D_BLOCK(8)
#else
#define D_TEXT_8 D_TEXT_7
#define D_OPS_8 D_OPS_7
#endif
#if TILE_N > 72
#define D_TEXT_9 D_TEXT_8 ",%43,%44,%45,%46"
#define D_OPS_9 D_OPS_8, D_BLOCK(9)
#else
#define D_TEXT_9 D_TEXT_8
#define D_OPS_9 D_OPS_8
#endif
#if TILE_N > 80
#define D_TEXT_10 D_TEXT_9 ",%47,%48,%49,%50"
#define D_OPS_10 D_OPS_9, D_BLOCK(10)
#else
#define D_TEXT_10 D_TEXT_9
#define D_OPS_10 D_OPS_9
#endif
#if TILE_N > 88
#define D_TEXT_11 D_TEXT_10 ",%51,%52,%53,%54"
#define D_OPS_11 D_OPS_10, D_BLOCK(11)
#else
#define D_TEXT_11 D_TEXT_10
#define D_OPS_11 D_OPS_10
#endif
#if TILE_N > 96
#define D_TEXT_12 D_TEXT_11 ",%55,%56,%57,%58"
#define D_OPS_12 D_OPS_11, D_BLOCK(12)
#else
#define D_TEXT_12 D_TEXT_11
#define D_OPS_12 D_OPS_11
#endif
#if TILE_N > 104
#define D_TEXT_13 D_TEXT_12 ",%59,%60,%61,%62"
#define D_OPS_13 D_OPS_12, D_BLOCK(13)
#else
#define D_TEXT_13 D_TEXT_12
#define D_OPS_13 D_OPS_12
#endif
#if TILE_N > 112
#define D_TEXT_14 D_TEXT_13 ",%63,%64,%65,%66"
#define D_OPS_14 D_OPS_13, D_BLOCK(14)
#else
#define D_TEXT_14 D_TEXT_13
#define D_OPS_14 D_OPS_13
#endif
#if TILE_N > 120
#define D_TEXT_15 D_TEXT_14 ",%67,%68,%69,%70"
#define D_OPS_15 D_OPS_14, D_BLOCK(15)
#else
#define D_TEXT_15 D_TEXT_14
#define D_OPS_15 D_OPS_14
#endif
#if TILE_N > 128
#define D_TEXT_16 D_TEXT_15 ",%71,%72,%73,%74"
#define D_OPS_16 D_OPS_15, D_BLOCK(16)
#else
#define D_TEXT_16 D_TEXT_15
#define D_OPS_16 D_OPS_15
#endif
#if TILE_N > 136
#define D_TEXT_17 D_TEXT_16 ",%75,%76,%77,%78"
#define D_OPS_17 D_OPS_16, D_BLOCK(17)
#else
#define D_TEXT_17 D_TEXT_16
#define D_OPS_17 D_OPS_16
#endif
#if TILE_N > 144
#define D_TEXT_18 D_TEXT_17 ",%79,%80,%81,%82"
#define D_OPS_18 D_OPS_17, D_BLOCK(18)
#else
#define D_TEXT_18 D_TEXT_17
#define D_OPS_18 D_OPS_17
#endif
#if TILE_N > 152
#define D_TEXT_19 D_TEXT_18 ",%83,%84,%85,%86"
#define D_OPS_19 D_OPS_18, D_BLOCK(19)
#else
#define D_TEXT_19 D_TEXT_18
#define D_OPS_19 D_OPS_18
#endif
#if TILE_N > 160
#define D_TEXT_20 D_TEXT_19 ",%87,%88,%89,%90"
#define D_OPS_20 D_OPS_19, D_BLOCK(20)
#else
#define D_TEXT_20 D_TEXT_19
#define D_OPS_20 D_OPS_19
#endif
#if TILE_N > 168
#define D_TEXT_21 D_TEXT_20 ",%91,%92,%93,%94"
#define D_OPS_21 D_OPS_20, D_BLOCK(21)
#else
#define D_TEXT_21 D_TEXT_20
#define D_OPS_21 D_OPS_20
#endif
#if TILE_N > 176
#define D_TEXT_22 D_TEXT_21 ",%95,%96,%97,%98"
#define D_OPS_22 D_OPS_21, D_BLOCK(22)
#else
#define D_TEXT_22 D_TEXT_21
#define D_OPS_22 D_OPS_21
#endif
#if TILE_N > 184
#define D_TEXT_23 D_TEXT_22 ",%99,%100,%101,%102"
#define D_OPS_23 D_OPS_22, D_BLOCK(23)
#else
#define D_TEXT_23 D_TEXT_22
#define D_OPS_23 D_OPS_22
#endif
#if TILE_N > 192
#define D_TEXT_24 D_TEXT_23 ",%103,%104,%105,%106"
#define D_OPS_24 D_OPS_23, D_BLOCK(24)
#else
#define D_TEXT_24 D_TEXT_23
#define D_OPS_24 D_OPS_23
#endif
#if TILE_N > 200
#define D_TEXT_25 D_TEXT_24 ",%107,%108,%109,%110"
#define D_OPS_25 D_OPS_24, D_BLOCK(25)
#else
#define D_TEXT_25 D_TEXT_24
#define D_OPS_25 D_OPS_24
#endif
#if TILE_N > 208
#define D_TEXT_26 D_TEXT_25 ",%111,%112,%113,%114"
#define D_OPS_26 D_OPS_25, D_BLOCK(26)
#else
#define D_TEXT_26 D_TEXT_25
#define D_OPS_26 D_OPS_25
#endif
#if TILE_N > 216
#define D_TEXT_27 D_TEXT_26 ",%115,%116,%117,%118"
#define D_OPS_27 D_OPS_26, D_BLOCK(27)
#else
#define D_TEXT_27 D_TEXT_26
#define D_OPS_27 D_OPS_26
#endif
#if TILE_N > 224
#define D_TEXT_28 D_TEXT_27 ",%119,%120,%121,%122"
#define D_OPS_28 D_OPS_27, D_BLOCK(28)
#else
#define D_TEXT_28 D_TEXT_27
#define D_OPS_28 D_OPS_27
#endif
#if TILE_N > 232
#define D_TEXT_29 D_TEXT_28 ",%123,%124,%125,%126"
#define D_OPS_29 D_OPS_28, D_BLOCK(29)
#else
#define D_TEXT_29 D_TEXT_28
#define D_OPS_29 D_OPS_28
#endif
#if TILE_N > 240
#define D_TEXT_30 D_TEXT_29 ",%127,%128,%129,%130"
#define D_OPS_30 D_OPS_29, D_BLOCK(30)
#else
#define D_TEXT_30 D_TEXT_29
#define D_OPS_30 D_OPS_29
#endif
#if TILE_N > 248
#define D_TEXT_31 D_TEXT_30 ",%131,%132,%133,%134"
#define D_OPS_31 D_OPS_30, D_BLOCK(31)
#else
#define D_TEXT_31 D_TEXT_30
#define D_OPS_31 D_OPS_30
#endif

#define D_LIST D_TEXT_31
#define D_OPERANDS D_OPS_31
