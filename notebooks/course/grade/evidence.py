"""Do the products of tensor cores make the answer? What speaks against it, of all cases together.

    weigh(lab, tried)      tried: [(case, report, our report)] -> [Sign], one of each kind at most

Four kinds of signs, which do not depend on the order in which a kernel makes its products, nor on its tiles:

    count      fewer products than the problem has: counted in a case without masks
    zero       all products are zero, and O is what it was
    spoilt     one product at a time is wrong, and O does not follow as often as it has to
    work       several times the instructions of our kernel: a sign beside others only

O has to follow if a product has an output that some row sees. A square of 16 rows and 8 keys is the smallest that tensor
cores multiply, so at least the visible ones of them are to be seen in O. A kernel that computes more than those, since its
tiles are larger or its tail is long, may lose as many as it has more. So each case has a chance by which a spoilt product
reaches O at least, and `spoilt` is a sign where what was seen has a probability below 1e-6."""
import dataclasses
import math

WHOLE = ("plain", "product")            # cases without masks, of lengths that most tiles divide
PROOF = ("hmma_instructions", "hgmma_instructions")   # what labs of tensor cores are about
ALMOST_ALL = 0.95                       # of the products that a problem has, and of what is to be seen
HARDLY = 1e-6
MORE_THAN_OURS = 0.1                    # share of O that stays, beyond ours
MUCH_WORK = 3                           # times our instructions
BOTTOM_RIGHT, TOP_LEFT = 1, 2           # enum mask
ROWS, KEYS = 16, 8


@dataclasses.dataclass
class Sign:
    kind: str
    why: str
    case: dict
    place: dict = None


def blocks(case, rows, keys):
    """How many blocks of so many rows and keys have a key that a row sees; of one head."""
    queries, seen = case["seqlen_q"], case["seqlen_k"]
    diagonal = {BOTTOM_RIGHT: seen - queries, TOP_LEFT: 0}.get(case["mask"], seen)
    n = 0
    for first in range(0, queries, rows):
        last = min(first + rows, queries) - 1
        n += -(-max(0, min(seen, last + diagonal + 1)) // keys)
    return n


def chance(lab, case, report, ours):
    """At least so many of a right kernel's products reach O."""
    name = next((name for name in PROOF if ours["counts"].get(name)), None)
    if "seqlen_q" not in case or not name:
        useful = 1
    else:
        rows, keys = lab.tile
        useful = blocks(case, ROWS, KEYS) * ROWS * KEYS / (max(1, blocks(case, rows, keys)) * rows * keys)
    more = report["counts"].get(name, 0) / ours["counts"][name] if name else 1
    return ALMOST_ALL * min(1, useful / max(more, 1e-9))


def probability(chances, reached):
    """Of so few or fewer successes, each with its own chance."""
    by_number = [1.0]
    for p in chances:
        by_number = [(by_number[n] * (1 - p) if n < len(by_number) else 0) + (by_number[n - 1] * p if n else 0)
                     for n in range(len(by_number) + 1)]
    return math.fsum(by_number[:reached + 1])


def is_telling(case):
    """Are scores close enough that every visible key counts?"""
    return case["kind"] == "product" or case["input"] == "normal"


def _counted(case, report, ours):
    for name in PROOF:
        wanted, value = ours["counts"].get(name), report["counts"].get(name, 0)
        if wanted and (not value or case["kind"] in WHOLE and value < ALMOST_ALL * wanted):
            return Sign("count", f"{name} is {value:g}, the products need {wanted:g}", case)
    return None


def _zero(case, report, ours):
    stays = report.get("same_without_products", 0)
    if ours["products"]["executed"] and stays > ours["same_without_products"] + MORE_THAN_OURS:
        return Sign("zero", f"{100 * stays:.0f} % of O is the same when all products of tensor cores are zero", case)
    return None


def _spoilt(lab, tried):
    best = None
    for group in (WHOLE, None):  # a kernel may behave in the simple cases alone
        chances, reached, lost, where = [], 0, [], None
        for case, report, ours in tried:
            products = report.get("products")
            if not products or not products["tried"] or not ours["products"]["executed"] or not is_telling(case):
                continue
            if (case["kind"] in WHOLE) != (group is WHOLE):
                continue
            chances += [chance(lab, case, report, ours)] * products["tried"]
            reached += products["reached"]
            lost += products["lost"]
            where = where or (case if products["lost"] else None)
        if chances and where and probability(chances, reached) < HARDLY:
            best = best or Sign("spoilt", f"O does not depend on {len(chances) - reached} of {len(chances)} products of tensor "
                                "cores that were made wrong, one at a time", where, lost[0] if lost else None)
    return best


def _worked(case, report, ours):
    work = report["counts"]["instructions"] / ours["counts"]["instructions"]
    return Sign("work", f"it takes {work:.1f} times the instructions of ours", case) if work > MUCH_WORK else None


def weigh(lab, tried):
    tried = [(case, report, ours) for case, report, ours in tried if "counts" in report and "products" in ours]
    signs = []
    for kind in (_counted, _zero):
        signs += [sign for sign in (kind(*one) for one in tried) if sign][:1]
    spoilt = _spoilt(lab, tried)
    signs += [spoilt] * (spoilt is not None)
    return signs + [sign for sign in (_worked(*one) for one in tried) if sign and signs][:1]
