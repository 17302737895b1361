/* The operand lists of m64nNk16 for every N from 8 to 256. nvcc knows the operands of an asm
 * statement by number only, results first: the N / 2 accumulators d[0][0] ... d[N / 8 - 1][3] are
 * %0 ... %(N / 2 - 1), and what follows them has numbers that depend on N:
 *
 *   a[0] ... a[3]   A fragment (if A comes from registers)
 *   a_desc, b_desc  descriptors (A's if A comes from shared memory)
 *   scale_d         0 gives D = A B, 1 gives D += A B */
#pragma once

#define D_BLOCK(i) "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])

#define D_TEXT_0 "%0,%1,%2,%3"
#define D_OPS_0  D_BLOCK(0)
#if TILE_N > 8
#define D_TEXT_1 D_TEXT_0 ",%4,%5,%6,%7"
#define D_OPS_1  D_OPS_0, D_BLOCK(1)
#else
#define D_TEXT_1 D_TEXT_0
#define D_OPS_1  D_OPS_0
#endif
#if TILE_N > 16
#define D_TEXT_2 D_TEXT_1 ",%8,%9,%10,%11"
#define D_OPS_2  D_OPS_1, D_BLOCK(2)
#else
#define D_TEXT_2 D_TEXT_1
#define D_OPS_2  D_OPS_1
#endif
#if TILE_N > 24
#define D_TEXT_3 D_TEXT_2 ",%12,%13,%14,%15"
#define D_OPS_3  D_OPS_2, D_BLOCK(3)
#else
#define D_TEXT_3 D_TEXT_2
#define D_OPS_3  D_OPS_2
#endif
#if TILE_N > 32
#define D_TEXT_4 D_TEXT_3 ",%16,%17,%18,%19"
#define D_OPS_4  D_OPS_3, D_BLOCK(4)
#else
#define D_TEXT_4 D_TEXT_3
#define D_OPS_4  D_OPS_3
#endif
#if TILE_N > 40
#define D_TEXT_5 D_TEXT_4 ",%20,%21,%22,%23"
#define D_OPS_5  D_OPS_4, D_BLOCK(5)
#else
#define D_TEXT_5 D_TEXT_4
#define D_OPS_5  D_OPS_4
#endif
#if TILE_N > 48
#define D_TEXT_6 D_TEXT_5 ",%24,%25,%26,%27"
#define D_OPS_6  D_OPS_5, D_BLOCK(6)
#else
#define D_TEXT_6 D_TEXT_5
#define D_OPS_6  D_OPS_5
#endif
#if TILE_N > 56
#define D_TEXT_7 D_TEXT_6 ",%28,%29,%30,%31"
#define D_OPS_7  D_OPS_6, D_BLOCK(7)
#else
#define D_TEXT_7 D_TEXT_6
#define D_OPS_7  D_OPS_6
#endif
#if TILE_N > 64
#define D_TEXT_8 D_TEXT_7 ",%32,%33,%34,%35"
#define D_OPS_8  D_OPS_7, D_BLOCK(8)
#else
#define D_TEXT_8 D_TEXT_7
#define D_OPS_8  D_OPS_7
#endif
#if TILE_N > 72
#define D_TEXT_9 D_TEXT_8 ",%36,%37,%38,%39"
#define D_OPS_9  D_OPS_8, D_BLOCK(9)
#else
#define D_TEXT_9 D_TEXT_8
#define D_OPS_9  D_OPS_8
#endif
#if TILE_N > 80
#define D_TEXT_10 D_TEXT_9 ",%40,%41,%42,%43"
#define D_OPS_10  D_OPS_9, D_BLOCK(10)
#else
#define D_TEXT_10 D_TEXT_9
#define D_OPS_10  D_OPS_9
#endif
#if TILE_N > 88
#define D_TEXT_11 D_TEXT_10 ",%44,%45,%46,%47"
#define D_OPS_11  D_OPS_10, D_BLOCK(11)
#else
#define D_TEXT_11 D_TEXT_10
#define D_OPS_11  D_OPS_10
#endif
#if TILE_N > 96
#define D_TEXT_12 D_TEXT_11 ",%48,%49,%50,%51"
#define D_OPS_12  D_OPS_11, D_BLOCK(12)
#else
#define D_TEXT_12 D_TEXT_11
#define D_OPS_12  D_OPS_11
#endif
#if TILE_N > 104
#define D_TEXT_13 D_TEXT_12 ",%52,%53,%54,%55"
#define D_OPS_13  D_OPS_12, D_BLOCK(13)
#else
#define D_TEXT_13 D_TEXT_12
#define D_OPS_13  D_OPS_12
#endif
#if TILE_N > 112
#define D_TEXT_14 D_TEXT_13 ",%56,%57,%58,%59"
#define D_OPS_14  D_OPS_13, D_BLOCK(14)
#else
#define D_TEXT_14 D_TEXT_13
#define D_OPS_14  D_OPS_13
#endif
#if TILE_N > 120
#define D_TEXT_15 D_TEXT_14 ",%60,%61,%62,%63"
#define D_OPS_15  D_OPS_14, D_BLOCK(15)
#else
#define D_TEXT_15 D_TEXT_14
#define D_OPS_15  D_OPS_14
#endif
#if TILE_N > 128
#define D_TEXT_16 D_TEXT_15 ",%64,%65,%66,%67"
#define D_OPS_16  D_OPS_15, D_BLOCK(16)
#else
#define D_TEXT_16 D_TEXT_15
#define D_OPS_16  D_OPS_15
#endif
#if TILE_N > 136
#define D_TEXT_17 D_TEXT_16 ",%68,%69,%70,%71"
#define D_OPS_17  D_OPS_16, D_BLOCK(17)
#else
#define D_TEXT_17 D_TEXT_16
#define D_OPS_17  D_OPS_16
#endif
#if TILE_N > 144
#define D_TEXT_18 D_TEXT_17 ",%72,%73,%74,%75"
#define D_OPS_18  D_OPS_17, D_BLOCK(18)
#else
#define D_TEXT_18 D_TEXT_17
#define D_OPS_18  D_OPS_17
#endif
#if TILE_N > 152
#define D_TEXT_19 D_TEXT_18 ",%76,%77,%78,%79"
#define D_OPS_19  D_OPS_18, D_BLOCK(19)
#else
#define D_TEXT_19 D_TEXT_18
#define D_OPS_19  D_OPS_18
#endif
#if TILE_N > 160
#define D_TEXT_20 D_TEXT_19 ",%80,%81,%82,%83"
#define D_OPS_20  D_OPS_19, D_BLOCK(20)
#else
#define D_TEXT_20 D_TEXT_19
#define D_OPS_20  D_OPS_19
#endif
#if TILE_N > 168
#define D_TEXT_21 D_TEXT_20 ",%84,%85,%86,%87"
#define D_OPS_21  D_OPS_20, D_BLOCK(21)
#else
#define D_TEXT_21 D_TEXT_20
#define D_OPS_21  D_OPS_20
#endif
#if TILE_N > 176
#define D_TEXT_22 D_TEXT_21 ",%88,%89,%90,%91"
#define D_OPS_22  D_OPS_21, D_BLOCK(22)
#else
#define D_TEXT_22 D_TEXT_21
#define D_OPS_22  D_OPS_21
#endif
#if TILE_N > 184
#define D_TEXT_23 D_TEXT_22 ",%92,%93,%94,%95"
#define D_OPS_23  D_OPS_22, D_BLOCK(23)
#else
#define D_TEXT_23 D_TEXT_22
#define D_OPS_23  D_OPS_22
#endif
#if TILE_N > 192
#define D_TEXT_24 D_TEXT_23 ",%96,%97,%98,%99"
#define D_OPS_24  D_OPS_23, D_BLOCK(24)
#else
#define D_TEXT_24 D_TEXT_23
#define D_OPS_24  D_OPS_23
#endif
#if TILE_N > 200
#define D_TEXT_25 D_TEXT_24 ",%100,%101,%102,%103"
#define D_OPS_25  D_OPS_24, D_BLOCK(25)
#else
#define D_TEXT_25 D_TEXT_24
#define D_OPS_25  D_OPS_24
#endif
#if TILE_N > 208
#define D_TEXT_26 D_TEXT_25 ",%104,%105,%106,%107"
#define D_OPS_26  D_OPS_25, D_BLOCK(26)
#else
#define D_TEXT_26 D_TEXT_25
#define D_OPS_26  D_OPS_25
#endif
#if TILE_N > 216
#define D_TEXT_27 D_TEXT_26 ",%108,%109,%110,%111"
#define D_OPS_27  D_OPS_26, D_BLOCK(27)
#else
#define D_TEXT_27 D_TEXT_26
#define D_OPS_27  D_OPS_26
#endif
#if TILE_N > 224
#define D_TEXT_28 D_TEXT_27 ",%112,%113,%114,%115"
#define D_OPS_28  D_OPS_27, D_BLOCK(28)
#else
#define D_TEXT_28 D_TEXT_27
#define D_OPS_28  D_OPS_27
#endif
#if TILE_N > 232
#define D_TEXT_29 D_TEXT_28 ",%116,%117,%118,%119"
#define D_OPS_29  D_OPS_28, D_BLOCK(29)
#else
#define D_TEXT_29 D_TEXT_28
#define D_OPS_29  D_OPS_28
#endif
#if TILE_N > 240
#define D_TEXT_30 D_TEXT_29 ",%120,%121,%122,%123"
#define D_OPS_30  D_OPS_29, D_BLOCK(30)
#else
#define D_TEXT_30 D_TEXT_29
#define D_OPS_30  D_OPS_29
#endif
#if TILE_N > 248
#define D_TEXT_31 D_TEXT_30 ",%124,%125,%126,%127"
#define D_OPS_31  D_OPS_30, D_BLOCK(31)
#else
#define D_TEXT_31 D_TEXT_30
#define D_OPS_31  D_OPS_30
#endif

#define D_LIST     D_TEXT_31
#define D_OPERANDS D_OPS_31

/* The numbers of a[0..3], a_desc, b_desc, scale_d. */
#if TILE_N == 8
#define INPUT_NUMBERS 4, 5, 6, 7, 8, 9, 10
#elif TILE_N == 16
#define INPUT_NUMBERS 8, 9, 10, 11, 12, 13, 14
#elif TILE_N == 24
#define INPUT_NUMBERS 12, 13, 14, 15, 16, 17, 18
#elif TILE_N == 32
#define INPUT_NUMBERS 16, 17, 18, 19, 20, 21, 22
#elif TILE_N == 40
#define INPUT_NUMBERS 20, 21, 22, 23, 24, 25, 26
#elif TILE_N == 48
#define INPUT_NUMBERS 24, 25, 26, 27, 28, 29, 30
#elif TILE_N == 56
#define INPUT_NUMBERS 28, 29, 30, 31, 32, 33, 34
#elif TILE_N == 64
#define INPUT_NUMBERS 32, 33, 34, 35, 36, 37, 38
#elif TILE_N == 72
#define INPUT_NUMBERS 36, 37, 38, 39, 40, 41, 42
#elif TILE_N == 80
#define INPUT_NUMBERS 40, 41, 42, 43, 44, 45, 46
#elif TILE_N == 88
#define INPUT_NUMBERS 44, 45, 46, 47, 48, 49, 50
#elif TILE_N == 96
#define INPUT_NUMBERS 48, 49, 50, 51, 52, 53, 54
#elif TILE_N == 104
#define INPUT_NUMBERS 52, 53, 54, 55, 56, 57, 58
#elif TILE_N == 112
#define INPUT_NUMBERS 56, 57, 58, 59, 60, 61, 62
#elif TILE_N == 120
#define INPUT_NUMBERS 60, 61, 62, 63, 64, 65, 66
#elif TILE_N == 128
#define INPUT_NUMBERS 64, 65, 66, 67, 68, 69, 70
#elif TILE_N == 136
#define INPUT_NUMBERS 68, 69, 70, 71, 72, 73, 74
#elif TILE_N == 144
#define INPUT_NUMBERS 72, 73, 74, 75, 76, 77, 78
#elif TILE_N == 152
#define INPUT_NUMBERS 76, 77, 78, 79, 80, 81, 82
#elif TILE_N == 160
#define INPUT_NUMBERS 80, 81, 82, 83, 84, 85, 86
#elif TILE_N == 168
#define INPUT_NUMBERS 84, 85, 86, 87, 88, 89, 90
#elif TILE_N == 176
#define INPUT_NUMBERS 88, 89, 90, 91, 92, 93, 94
#elif TILE_N == 184
#define INPUT_NUMBERS 92, 93, 94, 95, 96, 97, 98
#elif TILE_N == 192
#define INPUT_NUMBERS 96, 97, 98, 99, 100, 101, 102
#elif TILE_N == 200
#define INPUT_NUMBERS 100, 101, 102, 103, 104, 105, 106
#elif TILE_N == 208
#define INPUT_NUMBERS 104, 105, 106, 107, 108, 109, 110
#elif TILE_N == 216
#define INPUT_NUMBERS 108, 109, 110, 111, 112, 113, 114
#elif TILE_N == 224
#define INPUT_NUMBERS 112, 113, 114, 115, 116, 117, 118
#elif TILE_N == 232
#define INPUT_NUMBERS 116, 117, 118, 119, 120, 121, 122
#elif TILE_N == 240
#define INPUT_NUMBERS 120, 121, 122, 123, 124, 125, 126
#elif TILE_N == 248
#define INPUT_NUMBERS 124, 125, 126, 127, 128, 129, 130
#elif TILE_N == 256
#define INPUT_NUMBERS 128, 129, 130, 131, 132, 133, 134
#endif
#define PICK_A_REGS(a0, a1, a2, a3, ad, bd, sd) "{%" #a0 ",%" #a1 ",%" #a2 ",%" #a3 "}"
#define PICK_A_DESC(a0, a1, a2, a3, ad, bd, sd) "%" #ad
#define PICK_B_DESC(a0, a1, a2, a3, ad, bd, sd) "%" #bd
#define PICK_SCALE(a0, a1, a2, a3, ad, bd, sd)  "%" #sd
#define PICK(picker, ...)                       picker(__VA_ARGS__)
#define A_REGS                                  PICK(PICK_A_REGS, INPUT_NUMBERS)
#define A_DESC                                  PICK(PICK_A_DESC, INPUT_NUMBERS)
#define B_DESC                                  PICK(PICK_B_DESC, INPUT_NUMBERS)
#define SCALE_D                                 PICK(PICK_SCALE, INPUT_NUMBERS)
