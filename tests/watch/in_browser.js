// What a reader would do with the page of test_watch.sh, and see. Runs in the page, behind its own script; the last element says
// what failed. `wanted` says which page it is: stage-6, stage-4, wrong, deadlock.
"use strict";
{
const said = [];
const check = (name, passed, seen) => said.push(`${passed ? "ok" : "not ok"} ${name}${passed ? "" : ": " + seen}`);
const texts = selector => [...document.querySelectorAll(selector)].map(e => e.textContent);
const press = key => document.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const cycle = () => +document.getElementById("now").textContent.match(/cycle (\d+)/)[1];
const click = e => e.dispatchEvent(new MouseEvent("click", {bubbles: true}));
function goTo(t) { const s = document.getElementById("scrub"); s.value = t; s.dispatchEvent(new Event("input")); }
function choose(id, value) { const s = document.getElementById(id); s.value = value; s.dispatchEvent(new Event("change")); }
/* Steps of a warp until the operation's text holds `what`. */
function find(what) {
    press("Home");
    for (let n = 0; n < 4000 && !document.getElementById("operation").textContent.includes(what); n++) press("ArrowRight");
    return document.getElementById("operation").textContent.includes(what);
}
/* Cells of the tile that is shown: [{at, row, column}]. */
const cells = () => [...document.querySelectorAll("#tile g")].filter(g => g.querySelector("text")).map(g => {
    const [row, column] = g.querySelector("text").textContent.split(",").map(Number);
    return {at: parseInt(g.querySelector("rect").getAttribute("aria-label")), row, column};
});

function everyPage() {
    check("it is narrow enough", document.documentElement.scrollWidth <= window.innerWidth, document.documentElement.scrollWidth);
    check("it asks for nothing from a network", !document.querySelector("link, img[src^=http], script[src], iframe"), "a link");
    check("every picture has a text", [...document.querySelectorAll("svg, canvas:not([hidden] *)")].every(e => e.getAttribute("aria-label")), texts("svg").length);
    check("every control has a name", [...document.querySelectorAll("button, select, input")].every(e => e.textContent.trim() || e.getAttribute("aria-label") || e.closest("label")), "none");
    press("Home");
    check("Home goes to the first cycle", cycle() === 0, cycle());
    const before = cycle();
    press("ArrowRight"); press("ArrowRight");
    check("the right arrow goes on", cycle() > before, cycle());
    press("End");
    check("End goes to the last cycle", cycle() === +document.getElementById("scrub").max, cycle());
    check("there are lanes, by role", texts("#timeline g.lane > text").filter(t => /^warp \d+, (loads|products|other work)$/.test(t)).length >= 4, texts("#timeline g.lane > text"));
}

function stage6() {
    const lanes = texts("#timeline g.lane > text");
    check("the warp that loads comes first", /loads/.test(lanes[0]), lanes[0]);
    check("the pipes are lanes", lanes.includes("tensor pipe") && lanes.includes("MUFU"), lanes);
    check("there is a TMA copy", find("UTMALDG"), "none");
    check("its source line is shown", /load|tma|produce/i.test(texts("#source .here").join()), texts("#source .here"));
    choose("warp", 0);
    check("there is a WGMMA of warp 0", find("HGMMA"), "none");
    check("the descriptor is spelled out", /SBO 1024 bytes, 128-byte swizzle/.test(texts("#operation p").join()), texts("#operation p"));
    const tile = cells(), base = Math.min(...tile.map(c => c.at));
    check("128-byte swizzle: chunk c of row r lies at c ^ r % 8", tile.length >= 512 && tile.every(c => c.at === base + c.row * 128 + (c.column / 8 ^ c.row % 8) * 16), JSON.stringify(tile.find(c => c.at !== base + c.row * 128 + (c.column / 8 ^ c.row % 8) * 16)));
    check("the operation's bytes are framed", document.querySelectorAll("#tile .touch").length >= 64, document.querySelectorAll("#tile .touch").length);
    const owners = [...document.querySelectorAll("#fragment rect")].map(e => e.getAttribute("aria-label").match(/row (\d+), columns (\d+) and \d+: lane (\d+)/).slice(1).map(Number));
    check("accumulators: row r, column c belong to lane 4 (r % 8) + c % 8 / 2", owners.length >= 16 * 24 && owners.every(([r, c, lane]) => lane === r % 8 * 4 + c % 8 / 2), owners[0]);
    click(document.querySelector("#tile .cell"));
    const about = document.getElementById("element").textContent;
    check("a cell says who wrote it and who reads it", /Q\[0, 0\].*Written by.*UTMALDG.*Read.*HGMMA/.test(about), about);
    const at = cycle();
    click(document.querySelector("#element button"));
    check("and leads there", cycle() !== at && /UTMALDG/.test(texts("#operation code").join()), cycle());
    choose("warp", 0); find("HGMMA");
    click(document.querySelector("#fragment .cell"));
    check("a fragment's element says who reads it", /lane 0 of warp 0, R\d+.*Read next by.*cycle \d+/.test(document.getElementById("element").textContent), document.getElementById("element").textContent);
    choose("warp", -1); press("Home"); press("p");
    const ended = [...document.querySelectorAll("#mbarriers tbody tr")].map(r => [...r.children].map(c => c.textContent));
    check("p: the first phase has ended, and all that it awaited has come", ended.filter(r => r[1] === "1").length === 1 && ended.find(r => r[1] === "1")[4] === "0", JSON.stringify(ended));
    check("arrivals to come are at most those of a phase", ended.every(r => +r[2] <= +r[3]), JSON.stringify(ended));
    press("Home"); press("w");
    check("w: a wait, its reason and its line", /^Warp \d+ waits .* from cycle \d+ to \d+, at .*:\d+\.$/.test(texts("#operation .wait").join()), texts("#operation .wait"));
    const busy = data.pipe.find(p => p[0] === 0);
    goTo(busy[1] + 1);
    check("the tensor pipe is busy in its stretch", texts("#operation p").join().includes("The tensor pipe is busy"), texts("#operation p"));
    goTo(busy[1] - 1);
    check("and idle before the first", texts("#operation p").join().includes("The tensor pipe is idle"), texts("#operation p"));
    check("named barriers are listed", document.querySelectorAll("#barriers tbody tr").length > 0, 0);
    check("a right answer has no map", document.getElementById("wrong").hidden, "shown");
}

function stage4() {
    choose("warp", 1);
    check("there is an mma.sync", find("HMMA"), "none");
    const shapes = texts("#fragment g > text").filter(t => /rows|columns/.test(t));
    check("with D, A and B", shapes.length === 3, shapes);
    check("there is an ldmatrix", find("LDSM"), "none");
    check("of four matrices, without conflicts", texts("#fragment g > text").filter(t => /^matrix/.test(t)).length === 4 && /4 wavefronts; 4 would do/.test(texts("#operation p").join()), texts("#operation p"));
    const tile = cells();
    check("cells name rows and columns of what cp.async brought", tile.length > 100 && tile.every(c => c.row >= 0 && c.column % 8 === 0), JSON.stringify(tile[0]));
}

function wrong() {
    const map = document.getElementById("map");
    check("a wrong answer has a map", !document.getElementById("wrong").hidden && map.width > 0, map.width);
    check("whose text counts wrong elements", /: [1-9]\d* of \d+ elements are off/.test(map.getAttribute("aria-label")), map.getAttribute("aria-label"));
    const first = document.getElementById("wrong-value").textContent;
    map.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true}));
    const second = document.getElementById("wrong-value").textContent;
    check("arrows walk over it", /^O\[\d+, \d+\]: expected \S+, got \S+\.$/.test(second) && first !== second, second);
}

function deadlock() {
    check("the page says that the block does not end", /The block does not end.*deadlock/.test(document.getElementById("stopped").textContent), document.getElementById("stopped").textContent);
    press("End");
    const rows = [...document.querySelectorAll("#mbarriers tbody tr")].map(r => [...r.children].map(c => c.textContent));
    check("an mbarrier still has arrivals to come", rows.some(r => +r[2] > 0 && +r[2] < +r[3]), JSON.stringify(rows));
}

try {
    if (wanted === "stage-6") {
        check("it opens at the first product, with a fragment", /HGMMA/.test(texts("#operation code").join()) && document.querySelectorAll("#fragment rect").length > 0, texts("#operation code"));
        check("and with the line of the kernel, not of a header", /^stages\/6.*, which calls /.test(texts("#source div")[0]), texts("#source div")[0]);
    }
    everyPage();
    ({"stage-6": stage6, "stage-4": stage4, wrong, deadlock, any: () => {}})[wanted]();
} catch (e) { said.push("not ok " + e.stack); }
document.body.append(Object.assign(document.createElement("pre"), {id: "said", textContent: said.join("\n") + `\nend of ${said.length}`}));
}
