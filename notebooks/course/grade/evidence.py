"""Do the products of tensor cores make the answer? What speaks against it, of all cases together.

    weigh(tried, endless)      tried: [(case, report, our report)] -> [Sign], one of each kind at most

A trial (run.c) lets tensor cores multiply other numbers than they are given, three times: A doubled; elements of K and V
below zero changed by a factor that their bits draw; elements of Q below zero doubled. The same O has to come of ordinary
tensor cores and inputs that are changed in the same way. It does so bit for bit, and by the same instructions, in whatever
order and tiles a kernel works, wherever it folds the scale in, if its tensor cores make the products. So the kinds of
signs are:

    count                          fewer FLOP on tensor cores than the problem's products have, in a case without masks
    doubled, drawn, below zero     O is another one than these products give
    path                           O is the one, by other instructions: the kernel knows how it is run
    by hand                        so many more instructions of fp64, fp32 and fp16 than ours that they make at least half of the products: tensor
                                   cores may have done no more than copy what they are given
    bits                           O is nearly the one; work: many more instructions than ours. Both beside others only"""
import dataclasses

WHOLE = ("plain", "product")            # cases without masks, of lengths that most tiles divide
PROOF = ("hmma_instructions", "hgmma_instructions", "tensor_flop")   # what labs of tensor cores are about; exams that leave open which
ALMOST_ALL = 0.95                       # of the products that a problem has
APART = 0.02                            # share of O that may be another one
OTHER_PATH = 0.01                       # of the instructions
MUCH_WORK = 1.5                         # times our instructions
MORE_WORK = 1.25                        # the same, where products are made by hand
BY_HAND = 0.5                           # of the products that a problem has
MULTIPLY_ADDS = {"hmma_instructions": 64, "hgmma_instructions": 512, "tensor_flop": 1 / 64}  # fp32 instructions in place of one: at least
WEAK = ("bits", "work")
CHANGES = {"doubled": "are doubled", "drawn": "are of other K and V", "below zero": "are of another Q"}


@dataclasses.dataclass
class Sign:
    kind: str
    why: str
    case: dict
    reported: bool = False  # the emulator reports something in this case


def flop_needed(case, ours):
    """FLOP of the products that a case without masks asks of tensor cores, in whatever tiles."""
    if "lda" in case:
        return 2 * case["m"] * case["n"] * case["k"]
    if "n" in case:
        return 2 * 64 * case["n"] * 16 * case["k_steps"]
    scores = case["batch"] * case["heads"] * case["seqlen_q"] * case["seqlen_k"]
    return 2 * scores * case["head_dim"] * (2 if ours["products"]["drawn"]["v"] else 1)  # P V, too, if ours is made there


def _flop(report, ours):
    """By tensor cores. If our kernel uses WGMMA, by WGMMA only: an HMMA has 4096 FLOP at most."""
    counts = report["counts"]
    return report["tensor_flop"] - (4096 * counts.get("hmma_instructions", 0) if ours["counts"].get("hgmma_instructions") else 0)


def _counted(case, report, ours):
    lacking = lacks(report, ours)
    if lacking:
        yield Sign("count", f"{lacking} is 0", case)
    elif case["kind"] in WHOLE and ours.get("products"):
        needed, flop = flop_needed(case, ours), _flop(report, ours)
        if flop < ALMOST_ALL * needed:
            yield Sign("count", f"tensor cores do {flop:g} FLOP, the products need {needed:g}", case)


def _followed(case, report, ours):
    """Signs of the three changes. Where ours multiplies P by V on tensor cores, V has to reach O through them, too."""
    for kind, what in CHANGES.items():
        wanted, seen = ours.get("products", {}).get(kind), report.get("products", {}).get(kind)
        if not wanted or not seen:
            continue
        apart = 1 if "failed" in seen else seen["apart"]
        if apart > wanted["apart"] + APART:
            yield Sign(kind, f"{100 * apart:.0f} % of O is not what it has to be when products of tensor cores {what}", case)
        elif kind == "drawn" and wanted["v"] and not seen["v"]:
            yield Sign(kind, "O does not come of V through tensor cores", case)
        elif abs(seen["work"] - 1) > OTHER_PATH:
            yield Sign("path", f"it runs {seen['work']:.2f} times the instructions when products of tensor cores {what}", case)
        elif not seen["same"] and wanted["same"]:
            yield Sign("bits", f"O has other bits when products of tensor cores {what}", case)


def lacks(report, ours):
    """The counter of the tensor instructions that the problem needs and of which it runs none, or None."""
    counts = report.get("counts")
    return next((name for name in PROOF if counts and ours["counts"].get(name) and not counts.get(name, 0)), None)


def moved(report):
    """Does O depend on products of tensor cores at all?"""
    return report.get("products", {}).get("doubled", {}).get("moved", 1) > APART and "products" in report


def _by_hand(case, report, ours):
    for name, each in MULTIPLY_ADDS.items():
        needed = each * ours["counts"].get(name, 0)
        more = report["counts"]["hand_instructions"] - ours["counts"]["hand_instructions"]
        if needed and more > BY_HAND * needed:
            yield Sign("by hand", f"it has {more:g} arithmetic instructions more than ours, and {needed:g} would make all products", case)


def _worked(case, report, ours):
    work = report["counts"]["instructions"] / ours["counts"]["instructions"]
    if work > (MORE_WORK if list(_by_hand(case, report, ours)) else MUCH_WORK):
        yield Sign("work", f"it takes {work:.1f} times the instructions of ours", case)


def weigh(tried, endless):
    """Strong signs first. endless: cases in which it ran too long."""
    first = {"work": Sign("work", "it takes many times the instructions of ours", endless[0])} if endless else {}
    for one in tried:
        for look in (_counted, _followed, _by_hand, _worked):
            for sign in look(*one) if "counts" in one[1] else ():
                sign.reported = "reports" in one[1]
                first.setdefault(sign.kind, sign)
    return [] if set(first) <= {"work"} else sorted(first.values(), key=lambda sign: sign.kind in WEAK)
