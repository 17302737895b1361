"""Encodes sm_90 instructions one by one, control bits included: a microbenchmark must hold the
instructions, registers, stalls and barriers that it names, which a compiler does not promise.

An instruction is 128 bits, (low, high) in 64-bit words:

    low    0-11   opcode with operand form     high   0-7    register c
          12-15   guard: predicate, 15 = not         41-44   stall: cycles to the next issue
          16-23   register d                          45     1 stay with this warp, 0 yield
          24-31   register a                        46-48    write barrier, 7 none
          32-39   register b                        49-51    read barrier, 7 none
                                                    52-57    wait mask
                                                    58-60    reuse of a, b, c

Every encoding is compared with what nvdisasm makes of it (pipes.py --check), and every form with
forms that ptxas has written (pipes.py --forms): a disassembler also reads what hardware refuses.

A kernel of n registers may use R0 to R(n - 3): the hardware keeps two for itself, and faults with
"illegal instruction" beyond. No kernel that ptxas has written comes closer.
"""

import struct

RZ = 255
STALL, YIELD, WRITE, READ, WAIT, REUSE = 41, 45, 46, 49, 52, 58
ALIGN = "(line)"  # stands as a label

# name: low word, high word, text; fields d, a, b, c are filled in from the operands.
OPS = {
    "FFMA": (0x7223, 0, "FFMA {d}, {a}, {b}, {c}"),
    "FADD": (0x7221, 0, "FADD {d}, {a}, {b}"),
    "FMUL": (0x7220, 0x400000, "FMUL {d}, {a}, {b}"),
    "FMNMX": (0x7209, 0x7800000, "FMNMX {d}, {a}, {b}, !PT"),
    "FSEL": (0x7208, 0, "FSEL {d}, {a}, {b}, P0"),
    "FSETP": (0x720B, 0x3F24000, "FSETP.GT.AND P1, PT, {a}, {b}, PT"),
    "F2FP": (0x723E, 0xFF, "F2FP.F16.F32.PACK_AB {d}, {a}, {b}"),
    "HADD2": (0x7230, 0, "HADD2 {d}, {a}, {b}"),
    "HADD2F": (0x20000000FF007230, 0x4100, "HADD2.F32 {d}, -RZ, {b}.H0_H0"),
    "HFMA2": (0x7231, 0, "HFMA2 {d}, {a}, {b}, {c}"),
    "IMAD": (0x7224, 0x78E0200, "IMAD {d}, {a}, {b}, {c}"),
    "IMADW": (0x7225, 0x78E0000, "IMAD.WIDE.U32 {d}, {a}, {b}, {c}"),
    "IADD3": (0x7210, 0x7FFE000, "IADD3 {d}, {a}, {b}, {c}"),
    "LOP3": (0x7212, 0x78E9600, "LOP3.LUT {d}, {a}, {b}, {c}, 0x96, !PT"),
    "SHF": (0x7219, 0x10E00, "SHF.L.W.U32.HI {d}, {a}, {b}, {c}"),
    "PRMT": (0x7216, 0, "PRMT {d}, {a}, {b}, {c}"),
    "SEL": (0x7207, 0, "SEL {d}, {a}, {b}, P0"),
    "ISETP": (0x720C, 0x3F24070, "ISETP.GT.U32.AND P1, PT, {a}, {b}, PT"),
    "MOV": (0x7202, 0xF00, "MOV {d}, {b}"),
    "EX2": (0x7308, 0x800, "MUFU.EX2 {d}, {b}"),
    "RCP": (0x7308, 0x1000, "MUFU.RCP {d}, {b}"),
    "LG2": (0x7308, 0xC00, "MUFU.LG2 {d}, {b}"),
    "I2FP": (0x7245, 0x201400, "I2FP.F32.S32 {d}, {b}"),
    "F2I": (0x7305, 0x20F100, "F2I.TRUNC.NTZ {d}, {b}"),
    "POPC": (0x7309, 0, "POPC {d}, {b}"),
    "HMMA": (0x723C, 0x1800, "HMMA.16816.F32 {d}, {a}, {b}, {c}"),
    "HMMA8": (0x723C, 0x1000, "HMMA.1688.F32 {d}, {a}, {b}, {c}"),
    "SHFL": (0x0C201F0000007F89, 0xE0000, "SHFL.BFLY PT, {d}, {a}, 0x1, 0x1f"),
    "SHFLI": (0x00001F0000007589, 0xE0000, "SHFL.IDX PT, {d}, {a}, {b}, 0x1f"),
    "LDS": (0x7984, 0x800, "LDS {d}, [{a}]"),
    "LDS64": (0x7984, 0xA00, "LDS.64 {d}, [{a}]"),
    "LDS128": (0x7984, 0xC00, "LDS.128 {d}, [{a}]"),
    "STS": (0x7388, 0x800, "STS [{a}], {b}"),
    "STS64": (0x7388, 0xA00, "STS.64 [{a}], {b}"),
    "STS128": (0x7388, 0xC00, "STS.128 [{a}], {b}"),
    "LDSM1": (0x783B, 0, "LDSM.16.M88 {d}, [{a}]"),
    "LDSM2": (0x783B, 0x100, "LDSM.16.M88.2 {d}, [{a}]"),
    "LDSM4": (0x783B, 0x200, "LDSM.16.M88.4 {d}, [{a}]"),
    "LDSMT4": (0x783B, 0x4200, "LDSM.16.MT88.4 {d}, [{a}]"),
    "STSM4": (0x7844, 0x200, "STSM.16.M88.4 [{a}], {b}"),
    "STSM1": (0x7844, 0x000, "STSM.16.M88 [{a}], {b}"),
    "ATOMS": (0x738C, 0, "ATOMS.ADD {d}, [{a}], {b}"),
    "LDG": (0x0000000400007981, 0xC1E1900, "LDG.E {d}, desc[UR4][{a}.64]"),
    "LDG64": (0x0000000400007981, 0xC1E1B00, "LDG.E.64 {d}, desc[UR4][{a}.64]"),
    "LDG128": (0x0000000400007981, 0xC1E1D00, "LDG.E.128 {d}, desc[UR4][{a}.64]"),
    "STG": (0x7986, 0xC101904, "STG.E desc[UR4][{a}.64], {b}"),
    "STG64": (0x7986, 0xC101B04, "STG.E.64 desc[UR4][{a}.64], {b}"),
    "STG128": (0x7986, 0xC101D04, "STG.E.128 desc[UR4][{a}.64], {b}"),
    "LDGSTS": (0x7FAE, 0xB901C44, "LDGSTS.E.BYPASS.128 [{d}], desc[UR4][{a}.64]"),
    "LDC": (0xFF007B82 | 0x224 // 4 << 40, 0x800, "LDC {d}, c[0x0][0x224]"),
    "LDGDEPBAR": (0x79AF, 0, "LDGDEPBAR"),
    "DEPBAR": (0x000080000000791A, 0, "DEPBAR.LE SB0, 0x0"),
    "NOP": (0x7918, 0, "NOP"),
    "EXIT": (0x794D, 0x3800000, "EXIT"),
    "WARPSYNC": (0x7948, 0x3800000, "WARPSYNC.ALL"),
    "BSYNC": (0x7941, 0x3800000, "BSYNC B0"),
    "CLOCK": (0x7805, 0x5000, "CS2R.32 {d}, SR_CLOCKLO"),
    "CLOCK64": (0x7805, 0x15000, "CS2R {d}, SR_CLOCKLO"),
    "ZERO64": (0x7805, 0x1FF00, "CS2R {d}, SRZ"),
    "TID": (0x7919, 0x2100, "S2R {d}, SR_TID.X"),
    "CTAID": (0x7919, 0x2500, "S2R {d}, SR_CTAID.X"),
    "SMID": (0x7919, 0x4300, "S2R {d}, SR_VIRTUALSMID"),
    "R2UR": (0x872CA, 0xE0000, "R2UR UR8, {a}"),
    "VOTE": (0xFF7806, 0x100, "VOTE.ANY P0, P0"),
    "UIADD3": (0x0000000106067890, 0xFFFE03F, "UIADD3 UR6, UR6, 0x1, URZ"),
    "UMOV": (0x0000000100067882, 0, "UMOV UR6, 0x1"),
    "DESC": (0x0000820000047AB9, 0xA00, "ULDC.64 UR4, c[0x0][0x208]"),
    "WGARRIVE": (0x79C5, 0, "WARPGROUP.ARRIVE"),
}

# Results come at no fixed time: a use must wait on a barrier that the instruction names.
VARIABLE = {
    "EX2", "RCP", "LG2", "F2I", "POPC", "SHFL", "SHFLI", "LDS", "LDS64", "LDS128", "LDSM1", "LDSM2",
    "LDSM4", "LDSMT4", "ATOMS", "LDG", "LDG64", "LDG128", "TID", "CTAID", "SMID", "LDC",
}
# Nothing comes back, but sources are read at no fixed time.
READS_LATE = {"STS", "STS64", "STS128", "STSM1", "STSM4", "STG", "STG64", "STG128", "LDGSTS"}

# Bits that hold operands, (low word, high word): what may differ from what ptxas has written.
FIELDS = {
    "guard": (0xF000, 0), "d": (0xFF << 16, 0), "a": (0xFF << 24, 0), "b": (0xFF << 32, 0),
    "c": (0, 0xFF), "imm": (0xFFFFFFFF << 32, 0), "offset": (0xFFFFFF << 40, 0),
    "bank": (0x3FFF << 40, 0), "p": (0, 7 << 17),
    "target": (0xFFFFFFFC << 32 | 0xFF << 16, 0x3FFFF),
    "sync": (0xFFFFFFFF << 32, 0), "pending": (0, 0xFF00),
}
UNIFORM = {"LDG": "b", "LDGSTS": "c offset", "STG": "c", "UIADD3": "d a", "UMOV": "d", "R2UR": "d",
           "DESC": "d"}


class Instruction:
    """fields: the names of FIELDS that it fills in."""
    __slots__ = ("low", "high", "text", "fields", "target", "label")

    def __init__(self, low, high, text, fields=""):
        self.low, self.high, self.text, self.fields = low, high, text, fields
        self.target, self.label = None, None

    def control(self, stall=1, stay=1, wr=7, rd=7, wait=0, reuse=0):
        if stall >= 12:  # such a wait always yields; the other encodings do not exist
            stay = 0
        self.high |= (stall << STALL | stay << YIELD | wr << WRITE | rd << READ | wait << WAIT
                      | reuse << REUSE)
        return self

    def guarded(self, guard):
        """P0..P6, or "!P0": as text."""
        self.low = self.low & ~0xF000 | (int(guard[-1]) | (8 if guard[0] == "!" else 0)) << 12
        self.text = f"@{guard} {self.text}"
        return self


def reg(n):
    return "RZ" if n == RZ else f"R{n}"


def op(name, d=RZ, a=RZ, b=RZ, c=RZ, stall=1, stay=1, wr=7, rd=7, wait=0, reuse=0):
    low, high, text = OPS[name]
    if "{d}" in text:
        low |= d << 16
    if "{a}" in text:
        low |= a << 24
    if "{b}" in text:
        low |= b << 32
    if "{c}" in text:
        high |= c
    shown = {}
    for i, (key, n) in enumerate((("a", a), ("b", b), ("c", c))):
        shown[key] = reg(n) + (".reuse" if reuse >> i & 1 else "")
    fields = " ".join(f for f in "dabc" if "{%s}" % f in text)
    fields += " " + UNIFORM.get(name.rstrip("0123456789"), "")
    return Instruction(low, high, text.format(d=reg(d), **shown), fields).control(
        stall, stay, wr, rd, wait, reuse)


def mov_imm(d, value, **control):
    return Instruction(0x7802 | d << 16 | value << 32, 0xF00,
                       f"MOV R{d}, {value:#x}", "d imm").control(**control)


def add_imm(d, a, value, **control):
    value &= 0xFFFFFFFF
    shown = f"-{(1 << 32) - value:#x}" if value >> 31 else f"{value:#x}"
    return Instruction(0x7810 | d << 16 | a << 24 | value << 32, 0x7FFE0FF,
                       f"IADD3 R{d}, R{a}, {shown}, RZ", "d a imm").control(**control)


def shr_imm(d, a, bits, **control):
    return Instruction(0x7819 | d << 16 | a << 24 | bits << 32, 0x16FF,
                       f"SHF.R.U32 R{d}, R{a}, {bits:#x}, RZ", "d a imm").control(**control)


def and_imm(d, a, value, **control):
    return Instruction(0x7812 | d << 16 | a << 24 | value << 32, 0x78EC0FF,
                       f"LOP3.LUT R{d}, R{a}, {value:#x}, RZ, 0xc0, !PT",
                       "d a imm").control(**control)


def imad_imm(d, a, value, c, **control):
    kind = ("MOV" if value == 0 else "SHL" if c == RZ and value & value - 1 == 0 and value > 1
            else "IADD" if value == 1 else "")  # nvdisasm's names for special cases
    shown = f"IMAD{'.' if kind else ''}{kind} R{d}, R{a}, {value:#x}, {reg(c)}"
    return Instruction(0x7824 | d << 16 | a << 24 | value << 32, 0x78E0200 | c, shown,
                       "d a imm c").control(**control)


def imad_wide_imm(d, a, value, c, **control):
    return Instruction(0x7825 | d << 16 | a << 24 | value << 32, 0x78E0000 | c,
                       f"IMAD.WIDE.U32 R{d}, R{a}, {value:#x}, R{c}",
                       "d a imm c").control(**control)


def isetp_ne_imm(p, a, value, **control):
    return Instruction(0x780C | a << 24 | value << 32, 0x3F05270 | p << 17,
                       f"ISETP.NE.AND P{p}, PT, R{a}, {value:#x}, PT", "p a imm").control(**control)


def isetp_ge_zero(p, a, **control):
    """p = a >= 0, signed."""
    return Instruction(0x720C | a << 24 | RZ << 32, 0x3F06270 | p << 17,
                       f"ISETP.GE.AND P{p}, PT, R{a}, RZ, PT", "p a b").control(**control)


def ldc(d, offset, wide=False, a=RZ, **control):
    return Instruction(0x7B82 | d << 16 | a << 24 | offset // 4 << 40, 0xA00 if wide else 0x800,
                       f"LDC{'.64' if wide else ''} R{d}, c[0x0][{offset:#x}]",
                       "d a bank").control(**control)


def store(offset, data, **control):
    """The warp's result: word offset / 4 of what R2 points at."""
    shown = f"+{offset:#x}" if offset else ""
    return Instruction(0x7986 | 2 << 24 | data << 32 | offset << 40, 0xC101904,
                       f"STG.E desc[UR4][R2.64{shown}], R{data}", "a b c offset").control(**control)


def barrier(kind, number, n_threads, **control):
    """BAR.SYNC.DEFER_BLOCKING ("SYNC") or BAR.ARV ("ARV") of n_threads threads. There is a BAR.SYNC
    too, which ptxas does not write for this architecture."""
    high = {"SYNC": 0x10000, "ARV": 0x2000}[kind]
    name = {"SYNC": "BAR.SYNC.DEFER_BLOCKING", "ARV": "BAR.ARV"}[kind]
    return Instruction(0x7B1D | n_threads << 42 | number << 54, high,
                       f"{name} {number:#x}, {n_threads:#x}", "sync").control(**control)


def umov_imm(ur, value, **control):
    return Instruction(0x7882 | ur << 16 | value << 32, 0,
                       f"UMOV UR{ur}, {value:#x}", "d imm").control(**control)


def hgmma(n, d, a=None, last=False, **control):
    """D += A B, 64 x n x 16 halves. Descriptors in UR8 to UR11; a: A is in registers."""
    low = 0xF0 | d << 16 | (n // 8 - 1) << 53
    high = 0x8000800 if last else 0x8700800
    end = ", gsb0" if last else ""
    if a is None:
        return Instruction(low | 0x7900 | 8 << 24, high | d,
                           f"HGMMA.64x{n}x16.F32 R{d}, gdesc[UR8], R{d}{end}",
                           "d a c").control(**control)
    return Instruction(low | 0x7D00 | a << 24 | 8 << 32, high | d,
                       f"HGMMA.64x{n}x16.F32 R{d}, R{a}, gdesc[UR8], R{d}{end}",
                       "d a b c").control(**control)


def hgmma_wait(pending, **control):
    return Instruction(0x00008000000079C5, 0x10000 | pending << 8,
                       f"WARPGROUP.DEPBAR.LE gsb0, {pending:#x}", "pending").control(**control)


def label(name):
    i = Instruction(0, 0, None)
    i.label = name
    return i


def align():
    """To the next line of 128 bytes, by what is never reached."""
    i = label("")
    i.label = ALIGN
    return i


def branch(name, **control):
    i = Instruction(0x7947, 0x3800000, "BRA", "target").control(**control)
    i.target = name
    return i


def bssy(name, **control):
    i = Instruction(0x7945, 0x3800000, "BSSY B0,", "imm").control(**control)
    i.target = name
    return i


def assemble(program):
    """Bytes, and the text that nvdisasm should show for each instruction."""
    at, where, code = 0, {}, []
    for i in program:
        if i.label == ALIGN:
            while at % 128:
                code.append(op("NOP"))
                at += 16
        elif i.label:
            where[i.label] = at
        else:
            code.append(i)
            at += 16
    out, texts = bytearray(), []
    for k, i in enumerate(code):
        low, high, text = i.low, i.high, i.text
        if i.target:
            delta = where[i.target] - 16 * (k + 1)
            if low & 0xFFF == 0x945:
                low |= (delta & 0xFFFFFFFF) << 32
            else:
                words = (delta // 4) & (1 << 56) - 1
                low |= (words & 0xFF) << 16 | (words >> 8 & 0x3FFFFFFF) << 34
                high |= words >> 38 & 0x3FFFF
            text = f"{text} {where[i.target]:#x}"
        out += struct.pack("<QQ", low, high)
        texts.append(text)
    return bytes(out), texts
