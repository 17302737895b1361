"use strict";
/* The page of watch.h. `data`, which page.c and record.c write:
 *   warps       {warp, role, issues: [cycles since the last, instructions since the last, reason of the wait or -1, ...]}
 *   operations  [warp, number of its issue, kind, what it touches ...]: operation() of record.c
 *   kinds       their numbers, by name
 *   footprints  [bytes of a lane, lane, address ...] or [0, begin, bytes ...]; operations name them by number
 *   barriers    delivered() of record.c; pipe: [unit, from, to]
 *   sass, registers, place, files: of instruction i; tensors; wrong: the map of O, or null
 * Time is in cycles of the SM. What holds at a cycle is computed anew from the lists: there is no other state. */
const {LDS, STS, LDSM, STSM, LDG, STG, LDGSTS, TMA_LOAD, TMA_STORE, HGMMA, WAITED} = data.kinds;
const HMMA = -1, SYNC = -2; // told by the text of the instruction
const LINE = 128, CHUNK = 16;
const byId = id => document.getElementById(id);
const hex = n => "0x" + n.toString(16);
const us = t => (t / data.mhz).toFixed(3) + " us";

/* ---- Reading the data -------------------------------------------------------------------------- */
function readWarps() {
    const warps = new Map();
    for (const w of data.warps) {
        const out = {warp: w.warp, role: w.role, time: [], inst: [], reason: []};
        let t = 0, i = 0;
        for (let n = 0; n < w.issues.length; n += 3) {
            out.time.push(t += w.issues[n]);
            out.inst.push(i += w.issues[n + 1]);
            out.reason.push(w.issues[n + 2]);
        }
        if (data.stopped && !/(^| )EXIT/.test(data.sass[i]) && t < data.shown) {
            out.time.push(data.shown);
            out.inst.push(i + 1);
            out.reason.push(data.reasons.indexOf(/BAR/.test(data.sass[i]) ? "barrier" : "long_scoreboard"));
        }
        warps.set(w.warp, out);
    }
    return warps;
}
const warps = readWarps();
const roles = ["loads", "products", "other work"];
const laneOrder = [...warps.values()].sort((a, b) => roles.indexOf(a.role) - roles.indexOf(b.role) || a.warp - b.warp);

const isSync = text => /(^| )(BAR|SYNCS|WARPGROUP|DEPBAR|LDGDEPBAR|UCGABAR|USETMAXREG|ACQBULK|FENCE|MEMBAR|UTMACMDFLUSH)/.test(text);
function readOperations() {
    const known = data.operations.map(o => {
        const w = warps.get(o[0]);
        return {warp: o[0], issue: o[1], time: w.time[o[1]], inst: w.inst[o[1]], kind: o[2], raw: o.slice(3)};
    });
    const kind = data.sass.map(text => /(^| )HMMA/.test(text) ? HMMA : isSync(text) && !text.includes("TRYWAIT") ? SYNC : 0);
    for (const w of warps.values())
        w.inst.forEach((i, n) => {
            if (kind[i]) known.push({warp: w.warp, issue: n, time: w.time[n], inst: i, kind: kind[i], raw: []});
        });
    return known.filter(o => o.time !== undefined).sort((a, b) => a.time - b.time || a.warp - b.warp);
}
const operations = readOperations();

/* Bytes of a copy are there when an mbarrier has counted them: the first report of as many bytes that is still free. */
function finishCopies() {
    const reports = data.barriers.filter(b => b[1] === 0 && b[5]).map(b => ({time: b[0], address: b[2], bytes: b[4], taken: false}));
    for (const o of operations) {
        if (o.kind !== TMA_LOAD) continue;
        const found = reports.find(r => !r.taken && r.time >= o.time && r.bytes === o.raw[1]);
        if (found) found.taken = true;
        o.done = found ? found.time : Infinity;
        o.mbarrier = found ? found.address : null;
    }
}
finishCopies();

/* [{begin, bytes, lane}] of a footprint; lane -1: of the whole warp. */
const unfolded = new Map();
function footprint(number) {
    if (number < 0) return [];
    if (unfolded.has(number)) return unfolded.get(number);
    const f = data.footprints[number], out = [];
    let address = 0;
    for (let n = 1; n < f.length; n += 2)
        if (f[0]) out.push({lane: f[n], begin: address += f[n + 1], bytes: f[0]});
        else out.push({lane: -1, begin: f[n], bytes: f[n + 1]});
    unfolded.set(number, out);
    return out;
}
/* What an operation reads and writes of shared memory. */
function touched(o) {
    if (o.touched) return o.touched;
    const reads = [], writes = [];
    if (o.kind === LDS || o.kind === LDSM) reads.push(...footprint(o.raw[0]));
    if (o.kind === STS || o.kind === STSM || o.kind === LDGSTS) writes.push(...footprint(o.raw[0]));
    if (o.kind === HGMMA) reads.push(...footprint(o.raw[4]), ...footprint(o.raw[5]));
    if (o.kind === TMA_LOAD) writes.push({lane: -1, begin: o.raw[0], bytes: o.raw[1]});
    if (o.kind === TMA_STORE) reads.push({lane: -1, begin: o.raw[0], bytes: o.raw[1]});
    return o.touched = {reads, writes};
}
const covers = (list, at, bytes) => list.find(p => p.begin < at + bytes && at < p.begin + p.bytes);

/* ---- What a byte of shared memory holds -------------------------------------------------------- */
const element = (t, row, column) => `${t.name}[${row}, ${column}]`;
/* The part of a TMA box at a shared address: its row, its first column, and the name of the element. */
function inBox(o, at) {
    const [shared, , map, coordinate] = o.raw;
    if (!map) return null;
    const [tensor, bytes, swizzle, , pitch] = map, mask = swizzle / 16 - 1;
    const plain = swizzle ? at ^ ((at >> 7 & mask) << 4) : at;
    const row = Math.floor((plain - shared) / pitch), column = Math.floor((plain - shared) % pitch / bytes);
    const t = data.tensors[tensor] || {name: "tensor"};
    return {row, column, chunk: Math.floor((plain - shared) % pitch / CHUNK), swizzle,
        text: element(t, (coordinate[1] || 0) + row, coordinate[0] + column), higher: coordinate.slice(2)};
}
/* {text, row, column, chunk} of the element in global memory at which a lane begins; without a known array the text alone. */
function inGlobal(o, lane) {
    const [tensor, first, print] = o.kind === LDGSTS ? o.raw[3] : o.raw[0];
    const p = footprint(print).find(x => x.lane === lane), t = data.tensors[tensor];
    if (!p || !t) return {text: "global memory"};
    const n = Math.floor((first + p.begin) / t.element), row = Math.floor(n / t.row) % t.rows, column = n % t.row;
    return {text: element(t, row, column), row, column, chunk: Math.floor(column * t.element / CHUNK)};
}
/* {row, column ...} or a text alone, of what `o` wrote there. */
function written(o, at) {
    if (o.kind === TMA_LOAD) return inBox(o, at) || {text: "a copy"};
    const p = covers(touched(o).writes, at, 1);
    if (o.kind !== LDGSTS) return {text: `warp ${o.warp}, lane ${p.lane}`};
    const from = inGlobal(o, p.lane);
    return {...from, text: `${from.text}, by warp ${o.warp}, lane ${p.lane}`};
}

/* Stretches of shared memory that something touches: boxes of copies, and the rest in pieces. */
function findRegions() {
    const boxes = new Map(), lines = new Set(), regions = [];
    for (const o of operations) {
        const {reads, writes} = touched(o);
        if (o.kind === TMA_LOAD && o.raw[2]) {
            const t = data.tensors[o.raw[2][0]] || {name: "a tensor"}, key = o.raw[0] + ":" + o.raw[1];
            if (!boxes.has(key)) boxes.set(key, {begin: o.raw[0], end: o.raw[0] + o.raw[1], names: new Set()});
            boxes.get(key).names.add(t.name);
        } else
            for (const p of [...reads, ...writes])
                for (let line = Math.floor(p.begin / LINE); line * LINE < p.begin + p.bytes; line++) lines.add(line);
    }
    for (const b of boxes.values()) regions.push({begin: b.begin, end: b.end, text: `tile of ${[...b.names].join(" and ")}`});
    const inside = line => regions.some(r => r.names !== null && line * LINE >= r.begin && line * LINE < r.end);
    const free = [...lines].filter(l => !inside(l)).sort((a, b) => a - b);
    for (let i = 0, j; i < free.length; i = j) {
        for (j = i + 1; j < free.length && free[j] === free[j - 1] + 1 && j - i < 64; j++);
        regions.push({begin: free[i] * LINE, end: (free[j - 1] + 1) * LINE, text: "used by warps"});
    }
    return regions.sort((a, b) => a.begin - b.begin);
}
const regions = findRegions();
const regionOf = at => regions.findIndex(r => at >= r.begin && at < r.end);

/* Of each chunk of a region: who wrote it last before `now`, and whether a copy to it is on its way. */
function contents(region, now) {
    const n = Math.ceil((region.end - region.begin) / CHUNK), out = Array.from({length: n}, () => ({writer: null, coming: null}));
    for (const o of operations) {
        if (o.time > now) break;
        for (const p of touched(o).writes) {
            const first = Math.max(0, Math.floor((p.begin - region.begin) / CHUNK)), last = Math.min(n, Math.ceil((p.begin + p.bytes - region.begin) / CHUNK));
            for (let i = first; i < last; i++)
                if (o.kind === TMA_LOAD && o.done > now) out[i].coming = o;
                else out[i] = {writer: o, coming: null};
        }
    }
    return out;
}

/* ---- Words --------------------------------------------------------------------------------------- */
const kindText = {[LDS]: "loads from shared memory", [STS]: "stores to shared memory", [LDSM]: "loads matrices from shared memory (ldmatrix)",
    [STSM]: "stores matrices to shared memory", [LDG]: "loads from global memory", [STG]: "stores to global memory",
    [LDGSTS]: "copies from global to shared memory (cp.async)", 8: "updates global memory", 9: "updates global memory", 11: "accesses another block's shared memory",
    [TMA_LOAD]: "starts a TMA copy into shared memory", [TMA_STORE]: "starts a TMA copy to global memory", [HGMMA]: "issues a WGMMA",
    [HMMA]: "multiplies fragments (mma.sync)", [SYNC]: "synchronises", [WAITED]: "has seen the end of a phase of an mbarrier"};
const swizzleText = ["no swizzle", "128-byte swizzle", "64-byte swizzle", "32-byte swizzle"];
/* The innermost line that is not of a function that stands for one instruction: {file, line, inner}, or null. */
function placeOf(inst) {
    const p = data.place[inst];
    let n = 0;
    while (n + 2 < p.length && /^(common\/|wgmma\.cuh$)/.test(data.files[p[n]].name)) n += 2;
    return p.length ? {file: data.files[p[n]], line: p[n + 1], inner: n ? `${data.files[p[0]].name}:${p[1]}` : null} : null;
}
function placeText(inst) {
    const p = placeOf(inst);
    return p ? `${p.file.name}:${p.line}` : "no source line";
}
function detail(o) {
    if (o.kind === HGMMA) {
        const say = d => d ? `start ${hex(d[0])}, LBO ${d[1]}, SBO ${d[2]} bytes, ${swizzleText[d[3]]}` : "in registers";
        return [`Shape m64n${o.raw[0]}k${o.raw[1]}. This warp computes rows ${o.warp % 4 * 16} to ${o.warp % 4 * 16 + 15}; red frames are the operands of its whole warpgroup.`,
            `Descriptor of A: ${say(o.raw[2])}.`, `Descriptor of B: ${say(o.raw[3])}.`,
            `It reads ${[o.raw[4], o.raw[5]].filter(n => n >= 0).map(n => regions[regionOf(footprint(n)[0].begin)].text).join(" and ")}.`];
    }
    if (o.kind === TMA_LOAD || o.kind === TMA_STORE) {
        const m = o.raw[2], t = m && data.tensors[m[0]];
        return [`${o.raw[1]} bytes at ${hex(o.raw[0])}, from coordinates (${o.raw[3].join(", ")}) of ${t ? t.name : "a tensor"}; ${m && m[2] ? m[2] + "-byte swizzle" : "no swizzle"}.`,
            o.done < Infinity ? `The bytes have arrived after ${o.done - o.time} cycles, at the mbarrier ${hex(o.mbarrier)}.` : ""];
    }
    if (o.kind >= LDS && o.kind <= STSM || o.kind === LDGSTS) {
        const [, n, ideal] = o.raw;
        return [`${n} wavefront${n === 1 ? "" : "s"}; ${ideal} would do${n > ideal ? ": banks conflict" : ""}.`,
            o.kind === LDGSTS ? `The first lane copies ${inGlobal(o, footprint(o.raw[0])[0].lane).text}. The bytes count as written from the issue on; they are there only after the wait.` : ""];
    }
    if (o.kind === WAITED) return [`The mbarrier lies at ${hex(o.raw[0])}.`];
    if (o.kind === LDG || o.kind === STG) return [`The first lane's address is ${inGlobal(o, footprint(o.raw[0][2])[0].lane).text}.`];
    return [];
}

/* What a warp waits for, by the reason and the instruction: as warps.c says it. */
const whats = {works: "issues, or waits for the pipeline", fetch: "waits for instructions", own: "waits for shared memory or MUFU",
    pipe: "waits for a pipe or its queue", products: "waits for its own WGMMA", others: "waits for other warps",
    copies: "waits at an mbarrier (TMA, other warps)", memory: "waits for global memory"};
function whatOf(reason, inst) {
    const name = data.reasons[reason], text = data.sass[inst], before = data.sass[inst - 1] || "";
    if (name === "no_instruction" || name === "branch_resolving") return "fetch";
    if (name === "short_scoreboard") return "own";
    if (name === "math_pipe_throttle" || name === "mio_throttle" || name === "lg_throttle") return "pipe";
    if (name === "barrier") return text.includes("WARPGROUP.DEPBAR") ? "products" : "others";
    if (name === "gmma") return "products";
    if (name === "long_scoreboard") return text.includes("TRYWAIT") || before.includes("TRYWAIT") ? "copies" : "memory";
    return name === "sleeping" ? "others" : "works";
}

/* ---- State of the page ----------------------------------------------------------------------- */
const state = {now: 0, warp: -1, region: 0, pinned: false, chosen: null, playing: 0};
const before = (list, t) => d3.bisector(x => x.time).right(list, t) - 1;
const mine = () => state.warp < 0 ? operations : operations.filter(o => o.warp === state.warp);
const current = () => { const list = mine(); return list[before(list, state.now)] || null; };

/* ---- Warps over time --------------------------------------------------------------------------- */
const units = [{name: "tensor pipe", units: [0, 1, 2, 3, 4]}, {name: "MUFU", units: [5, 6, 7, 8]}];
const left = 140, width = Math.max(400, byId("lanes").clientWidth), row = 16; // 400: a telephone
const x = d3.scale.linear().domain([0, data.shown]).range([left, width - 10]);

/* Stretches of one lane in the visible part, each at least a pixel: what there is most of in each pixel. */
function stretches(w) {
    const [from, to] = x.domain(), per = (to - from) / (width - left), bins = new Map(), out = [];
    const put = (a, b, what) => {
        for (let p = Math.max(0, Math.floor((a - from) / per)); p < width - left && from + p * per < b; p++) {
            const bin = bins.get(p) || bins.set(p, {}).get(p);
            bin[what] = (bin[what] || 0) + Math.min(b, from + (p + 1) * per) - Math.max(a, from + p * per);
        }
    };
    for (let n = Math.max(0, d3.bisectLeft(w.time, from) - 1); n < w.time.length && (n ? w.time[n - 1] : 0) < to; n++) {
        const begin = n ? w.time[n - 1] + 1 : 0;
        if (begin < w.time[n]) put(begin, w.time[n], w.reason[n] < 0 ? "works" : whatOf(w.reason[n], w.inst[n]));
        put(w.time[n], w.time[n] + 1, "works");
    }
    for (const [p, bin] of bins) {
        const what = Object.keys(bin).reduce((a, b) => bin[b] > bin[a] ? b : a), last = out[out.length - 1];
        if (last && last.what === what && last.to === p) last.to = p + 1;
        else out.push({from: p, to: p + 1, what});
    }
    return out;
}
function pipeStretches(unit) {
    const [from, to] = x.domain();
    return data.pipe.filter(p => unit.units.includes(p[0]) && p[1] < to && p[2] > from)
        .map(p => ({from: x(Math.max(p[1], from)) - left, to: x(Math.min(p[2], to)) - left, what: "busy"}));
}
function drawLanes() {
    const lanes = [...laneOrder.map(w => ({name: `warp ${w.warp}, ${w.role}`, warp: w.warp, parts: stretches(w)})),
        ...units.map(u => ({name: u.name, parts: pipeStretches(u)})).filter((u, n) => data.pipe.some(p => units[n].units.includes(p[0])))];
    const height = 24 + lanes.length * row, svg = d3.select("#timeline");
    svg.attr({width, height: height + 8, viewBox: `0 0 ${width} ${height + 8}`,
        "aria-label": `${warps.size} warps over ${data.shown} cycles, one lane each, by role: ${laneOrder.map(w => `warp ${w.warp} ${w.role}`).join(", ")}; the pipes below`});
    svg.selectAll("g.lane, g.axis").remove();
    svg.append("g").attr("class", "axis").attr("transform", "translate(0,18)").call(d3.svg.axis().scale(x).orient("top").ticks(width < 800 ? 4 : 8).tickSize(3));
    const g = svg.selectAll("g.lane").data(lanes).enter().append("g").attr("class", "lane").attr("transform", (d, i) => `translate(0,${22 + i * row})`);
    g.append("text").attr({x: left - 6, y: row - 4, "text-anchor": "end"}).text(d => d.name).style("font-weight", d => d.warp === state.warp ? 700 : 400);
    g.selectAll("rect").data(d => d.parts).enter().append("rect")
        .attr({x: d => left + d.from, width: d => Math.max(.5, d.to - d.from), y: 1, height: row - 3, class: d => d.what})
        .append("title").text(d => d.what === "busy" ? "the pipe is busy" : whats[d.what]);
    let cursor = svg.select("line.cursor");
    if (cursor.empty()) cursor = svg.append("line").attr("class", "cursor");
    cursor.attr({x1: x(state.now), x2: x(state.now), y1: 18, y2: height});
    svg.node().appendChild(cursor.node());
}
const zoom = d3.behavior.zoom().x(x).scaleExtent([1, data.shown / 20]).on("zoom", () => {
    const [a, b] = x.domain();
    if (a < 0) zoom.translate([zoom.translate()[0] - x(0) + left, 0]);
    if (b > data.shown) zoom.translate([zoom.translate()[0] + width - 10 - x(data.shown), 0]);
    drawLanes();
});
function showAll() { zoom.scale(1).translate([0, 0]); drawLanes(); }

/* ---- Shared memory ------------------------------------------------------------------------------- */
const cellWidth = 46, cellHeight = 14, labelWidth = 62, linesInColumn = 64;
const hue = n => d3.hsl(n * 45 % 360, .55, .68).toString();
function tileCells(region) {
    const lineOf = at => Math.floor(at / LINE) - Math.floor(region.begin / LINE);
    return contents(region, state.now).map((c, i) => {
        const at = region.begin + i * CHUNK, line = lineOf(at), o = c.writer || c.coming, holds = o && written(o, at);
        return {at, coming: !c.writer && c.coming, writer: o, holds, x: labelWidth + at % LINE / CHUNK * cellWidth + Math.floor(line / linesInColumn) * (labelWidth + 8 * cellWidth + 16),
            y: 18 + line % linesInColumn * cellHeight};
    });
}
const cellText = c => !c.holds ? "not written yet" : c.holds.text + (c.coming ? ", on its way" : "");
function drawTile() {
    const region = regions[state.region], svg = d3.select("#tile");
    svg.selectAll("*").remove();
    if (!region) { byId("tile-key").textContent = "This block has not used shared memory in the part that is shown."; return; }
    const cells = tileCells(region), op = current(), lines = Math.ceil((region.end - Math.floor(region.begin / LINE) * LINE) / LINE);
    const columns = Math.ceil(lines / linesInColumn), w = columns * (labelWidth + 8 * cellWidth + 16), h = 22 + Math.min(lines, linesInColumn) * cellHeight;
    svg.attr({width: w, height: h, viewBox: `0 0 ${w} ${h}`,
        "aria-label": `${region.text} at ${hex(region.begin)}: ${lines} lines of 128 bytes, eight cells of 16 bytes each, that is four banks each, at cycle ${state.now}`});
    for (let c = 0; c < columns; c++) {
        const dx = c * (labelWidth + 8 * cellWidth + 16);
        for (let b = 0; b < 8; b++) svg.append("text").attr({x: dx + labelWidth + b * cellWidth + 2, y: 12}).text(`${4 * b}-${4 * b + 3}`);
        svg.append("text").attr({x: dx, y: 12}).text("banks");
        for (let l = c * linesInColumn; l < Math.min(lines, (c + 1) * linesInColumn); l++)
            svg.append("text").attr({x: dx, y: 18 + (l % linesInColumn + 1) * cellHeight - 3}).text(hex(Math.floor(region.begin / LINE) * LINE + l * LINE));
    }
    const g = svg.selectAll("g.chunk").data(cells).enter().append("g");
    g.append("rect").attr({class: c => "cell" + (c.holds ? "" : " empty") + (state.chosen && state.chosen.at === c.at ? " chosen" : ""), tabindex: (c, i) => i % 8 ? -1 : 0,
        role: "button", "aria-label": c => `${hex(c.at)}: ${cellText(c)}`, x: c => c.x, y: c => c.y, width: cellWidth, height: cellHeight})
        .style("fill", c => c.holds ? hue(c.holds.chunk === undefined ? c.writer.warp : c.holds.chunk) : null).style("fill-opacity", c => c.coming ? .35 : 1)
        .on("click", c => choose({at: c.at})).on("keydown", keyOnCell).append("title").text(c => `${hex(c.at)}: ${cellText(c)}`);
    g.filter(c => c.holds).append("text").attr({class: c => c.coming ? null : "inked", x: c => c.x + 3, y: c => c.y + cellHeight - 4}).style("font-size", "9px")
        .text(c => c.holds.row === undefined ? `w${c.writer.warp}` : `${c.holds.row},${c.holds.column}`);
    if (op) drawTouches(svg, region, op);
    const boxed = cells.find(c => c.holds && c.holds.chunk !== undefined);
    byId("tile-key").innerHTML = (boxed ? "A cell says row and first column of the tile that it holds; its colour is the column: a swizzle shows as colours that change places from line to line. " :
        "A cell says which warp wrote it; its colour is the warp. ") + "Pale cells are on their way. Red frames are what this operation touches.";
}
function drawTouches(svg, region, op) {
    const base = Math.floor(region.begin / LINE) * LINE;
    for (const p of [...touched(op).reads, ...touched(op).writes])
        for (let at = p.begin; at < p.begin + p.bytes; ) {
            const end = Math.min(p.begin + p.bytes, (Math.floor(at / LINE) + 1) * LINE), line = (Math.floor(at / LINE) * LINE - base) / LINE;
            if (at >= region.begin && at < region.end)
                svg.append("rect").attr({class: "touch", x: labelWidth + at % LINE / CHUNK * cellWidth + Math.floor(line / linesInColumn) * (labelWidth + 8 * cellWidth + 16),
                    y: 18 + line % linesInColumn * cellHeight, width: (end - at) / CHUNK * cellWidth, height: cellHeight});
            at = end;
        }
}
function keyOnCell(c) {
    const e = d3.event, step = {ArrowRight: CHUNK, ArrowLeft: -CHUNK, ArrowDown: LINE, ArrowUp: -LINE}[e.key];
    if (e.key === "Enter" || step) { e.preventDefault(); e.stopPropagation(); }
    if (e.key === "Enter") choose({at: c.at});
    if (step && regionOf(c.at + step) === state.region) choose({at: c.at + step});
}

/* ---- Fragments ------------------------------------------------------------------------------------ */
const registersOf = text => (text.replace(/^@\S+ /, "").match(/\b(R\d+|RZ|U?gdesc)\b/gi) || []).map(r => /^R\d/.test(r) ? +r.slice(1) : null);
/* Cells of a 16 x columns matrix of 4 lanes a row: D of mma.sync and WGMMA; bits: of an element. */
function sumCells(first, columns) {
    const out = [];
    for (let r = 0; r < 16; r++)
        for (let c = 0; c < columns; c += 2) {
            const i = Math.floor(c / 8) * 4 + (r >= 8 ? 2 : 0);
            out.push({row: r, column: c, lane: r % 8 * 4 + c % 8 / 2, registers: [first + i, first + i + 1]});
        }
    return out;
}
function halfCells(first, rows, columns, register) {
    const out = [];
    for (let r = 0; r < rows; r++)
        for (let c = 0; c < columns; c += 2) out.push({row: r, column: c, lane: r % 8 * 4 + c % 8 / 2, registers: [first + register(r, c)]});
    return out;
}
const halfA = first => halfCells(first, 16, 16, (r, c) => (r >= 8 ? 1 : 0) + (c >= 8 ? 2 : 0));
/* [{name, cells, rows, columns}] of an operation. */
function fragments(o) {
    const text = data.sass[o.inst], r = registersOf(text);
    if (o.kind === HGMMA && /F32/.test(text)) {
        const out = [{name: `D: 16 of 64 rows, ${o.raw[0]} columns, fp32; the warp's first row is ${o.warp % 4 * 16}`, rows: 16, columns: o.raw[0], cells: sumCells(r[0], o.raw[0])}];
        if (o.raw[4] < 0 && o.raw[1] === 16) out.push({name: "A: 16 rows, 16 columns, two halves a register", rows: 16, columns: 16, cells: halfA(r[1])});
        return out;
    }
    if (o.kind === HMMA && /\.16816\.F32/.test(text) && r[1] !== null)
        return [{name: "D: 16 rows, 8 columns, fp32", rows: 16, columns: 8, cells: sumCells(r[0], 8)},
            {name: "A: 16 rows, 16 columns, two halves a register", rows: 16, columns: 16, cells: halfA(r[1])},
            {name: "B, transposed: 8 columns, 16 rows, two halves a register", rows: 8, columns: 16, cells: halfCells(r[2], 8, 16, (n, k) => k >= 8 ? 1 : 0)}];
    if (o.kind === LDSM) {
        const n = data.registers[o.inst][1], turned = /\.MT|\.T\b/.test(text), out = [];
        for (let j = 0; j < n; j++)
            out.push({name: `matrix ${j}, whose eight rows lanes ${8 * j} to ${8 * j + 7} address${turned ? "; shown transposed, as registers hold it" : ""}`, rows: 8, columns: 8, cells: halfCells(r[0], 8, 8, () => j)});
        return out;
    }
    return [];
}
function drawFragment() {
    const o = current(), svg = d3.select("#fragment"), found = o ? fragments(o) : [], w = 26, h = 15;
    svg.selectAll("*").remove();
    byId("fragment-about").textContent = found.length ? `Of warp ${o.warp}: T is the lane, R the register.` :
        "This operation has no fragment. Go to a WGMMA, an mma.sync or an ldmatrix.";
    let top = 0, most = 0;
    for (const f of found) {
        const g = svg.append("g").attr("transform", `translate(0,${top})`);
        g.append("text").attr({x: 0, y: 12}).text(f.name);
        const cell = g.selectAll("g.cell-of").data(f.cells).enter().append("g").attr("class", "cell-of");
        cell.append("rect").attr({x: d => 34 + d.column / 2 * 2 * w, y: d => 20 + d.row * h, width: 2 * w, height: h, role: "button", tabindex: d => d.column ? -1 : 0,
            class: d => "cell" + (state.chosen && state.chosen.lane === d.lane && state.chosen.registers && state.chosen.registers[0] === d.registers[0] ? " chosen" : ""),
            "aria-label": d => `row ${d.row}, columns ${d.column} and ${d.column + 1}: lane ${d.lane}, R${d.registers.join(" and R")}`})
            .style("fill", d => d3.hsl(Math.floor(d.lane / 4) * 45, .5, .62 + .08 * (d.lane % 4)).toString())
            .on("click", d => choose({lane: d.lane, registers: d.registers, warp: o.warp, issue: o.issue, row: d.row, column: d.column}))
            .on("keydown", d => { if (d3.event.key === "Enter") choose({lane: d.lane, registers: d.registers, warp: o.warp, issue: o.issue, row: d.row, column: d.column}); });
        cell.append("text").attr({class: "inked", x: d => 37 + d.column * w, y: d => 20 + (d.row + 1) * h - 4}).style("font-size", "9px").text(d => `T${d.lane} R${d.registers[0]}`);
        for (let r = 0; r < f.rows; r++) g.append("text").attr({x: 0, y: 20 + (r + 1) * h - 4}).text(r);
        most = Math.max(most, 40 + f.columns * w);
        top += 30 + f.rows * h;
    }
    svg.attr({width: most || 1, height: top || 1, viewBox: `0 0 ${most || 1} ${top || 1}`,
        "aria-label": found.length ? `Ownership of ${found.map(f => f.name).join("; ")}` : "no fragment"});
}

/* ---- The chosen element --------------------------------------------------------------------------- */
function link(o, text) {
    const b = document.createElement("button");
    b.textContent = `cycle ${o.time}`;
    b.onclick = () => { state.warp = o.warp; byId("warp").value = o.warp; state.pinned = true; go(o.time); };
    const li = document.createElement("li");
    li.append(b, ` warp ${o.warp} ${text}: `, Object.assign(document.createElement("code"), {textContent: data.sass[o.inst]}), ` (${placeText(o.inst)})`);
    return li;
}
function list(parent, title, items, none) {
    parent.append(Object.assign(document.createElement("p"), {textContent: items.length ? title : none}));
    const ul = parent.appendChild(document.createElement("ul"));
    ul.append(...items.slice(0, 12));
    if (items.length > 12) parent.append(Object.assign(document.createElement("p"), {className: "quiet", textContent: `${items.length - 12} more.`}));
}
/* Issues of a warp that write or read a register. */
function uses(w, register, from, step, wanted) {
    const out = [];
    for (let n = from; n >= 0 && n < w.inst.length && out.length < 20; n += step) {
        const r = data.registers[w.inst[n]], writes = register >= r[0] && register < r[0] + r[1] && r[1] > 0;
        let reads = false;
        for (let j = 2; j < r.length; j += 2) reads = reads || register >= r[j] && register < r[j] + r[j + 1];
        if (wanted === "writes" ? writes : reads) out.push({warp: w.warp, issue: n, time: w.time[n], inst: w.inst[n]});
        if (wanted === "writes" && writes || wanted === "reads" && writes && n !== from) break;
    }
    return out;
}
function showElement() {
    const c = state.chosen, box = byId("element");
    if (!c) return;
    box.textContent = "";
    if (c.at !== undefined) {
        const wrote = operations.filter(o => covers(touched(o).writes, c.at, CHUNK)), read = operations.filter(o => covers(touched(o).reads, c.at, CHUNK));
        const last = wrote.filter(o => (o.done || o.time) <= state.now).pop(), next = wrote.find(o => (o.done || o.time) > state.now);
        const until = next ? next.done || next.time : Infinity, since = last ? last.done || last.time : 0;
        box.append(Object.assign(document.createElement("p"), {textContent: `16 bytes at ${hex(c.at)}, banks ${c.at % LINE / 4} to ${c.at % LINE / 4 + 3}: ${last ? written(last, c.at).text : "not written yet"}.`}));
        list(box, "Written by", last ? [link(last, kindText[last.kind])] : [], "Nothing has written it yet.");
        list(box, "Read until it is written again by", read.filter(o => o.time >= since && o.time < until).map(o => link(o, kindText[o.kind])), "Nothing reads it before it is written again.");
        if (next) list(box, "Next written by", [link(next, kindText[next.kind])], "");
        return;
    }
    const w = warps.get(c.warp);
    box.append(Object.assign(document.createElement("p"), {textContent: `Row ${c.row}, columns ${c.column} and ${c.column + 1}: lane ${c.lane} of warp ${c.warp}, R${c.registers.join(" and R")}.`}));
    list(box, "Written by", uses(w, c.registers[0], c.issue, -1, "writes").map(o => link(o, "")), "It is not written before.");
    list(box, "Read next by", uses(w, c.registers[0], c.issue + 1, 1, "reads").map(o => link(o, "")), "Nothing reads it later in what is shown.");
}
function choose(what) { state.chosen = what; draw(); const cell = document.querySelector(".cell.chosen"); if (cell && what.at !== undefined) cell.focus({preventScroll: true}); }

/* ---- Barriers ------------------------------------------------------------------------------------- */
function barrierState(now) {
    const mbarriers = new Map(), named = new Map();
    for (const b of data.barriers) {
        if (b[0] > now) break;
        if (b[1] === 0) {
            const m = mbarriers.get(b[2]) || {phases: 0, phase: 0};
            mbarriers.set(b[2], {phases: m.phases + (b[8] !== m.phase), phase: b[8], expected: b[6], pending: b[7], tx: b[9], time: b[0]});
        } else if (b[1] === 1) {
            const n = named.get(b[2]) || {arrived: 0, times: 0};
            n.awaited = b[4] || 32 * warps.size;
            n.arrived += b[3];
            if (n.arrived >= n.awaited) { n.arrived = 0; n.times++; }
            n.time = b[0];
            named.set(b[2], n);
        }
    }
    return {mbarriers, named};
}
const waitedAt = new Map(operations.filter(o => o.kind === WAITED).map(o => [o.warp + ":" + o.issue, o]));
/* What each warp waits for at a cycle: its next issue and the kind of wait. */
function waiting(now) {
    const out = [];
    for (const w of warps.values()) {
        const n = d3.bisectRight(w.time, now);
        const wait = waitedAt.get(w.warp + ":" + n);
        if (n < w.time.length && w.reason[n] >= 0) out.push({warp: w.warp, what: whatOf(w.reason[n], w.inst[n]), at: wait && wait.raw[0]});
    }
    return out;
}
function table(id, caption, head, rows) {
    const t = d3.select("#" + id);
    t.selectAll("*").remove();
    if (!rows.length) return;
    t.append("caption").text(caption);
    t.append("thead").append("tr").selectAll("th").data(head).enter().append("th").attr("scope", "col").text(d => d);
    t.append("tbody").selectAll("tr").data(rows).enter().append("tr").attr("class", r => r.moved ? "moved" : null).selectAll("td").data(r => r.cells).enter().append("td").text(d => d);
}
function drawBarriers() {
    const {mbarriers, named} = barrierState(state.now), wait = waiting(state.now), who = found => wait.filter(found).map(w => w.warp).join(" ") || "none";
    table("mbarriers", "mbarriers", ["at", "phases ended", "arrivals to come", "of", "bytes to come", "last change", "warps that wait"],
        [...mbarriers].sort((a, b) => a[0] - b[0]).map(([at, m]) => ({moved: m.time === state.now, cells: [hex(at), m.phases, m.pending, m.expected, m.tx, m.time, who(w => w.at === at)]})));
    table("barriers", `named barriers; warps that wait for others: ${who(w => w.what === "others")}`, ["number", "times complete", "threads that have arrived", "of", "last change"],
        [...named].sort((a, b) => a[0] - b[0]).map(([id, n]) => ({moved: n.time === state.now, cells: [id, n.times, n.arrived, n.awaited, n.time]})));
    byId("no-barrier").hidden = mbarriers.size + named.size > 0;
}

/* ---- The operation and its line --------------------------------------------------------------------- */
function drawOperation() {
    const o = current(), box = byId("operation"), busy = data.pipe.filter(p => p[0] < 5 && p[1] <= state.now && state.now < p[2]).length;
    box.textContent = "";
    const say = text => text && box.append(Object.assign(document.createElement("p"), {textContent: text}));
    if (!o) say("Nothing has happened yet.");
    else {
        say(`Cycle ${o.time}: warp ${o.warp} (${warps.get(o.warp).role}) ${kindText[o.kind] || "works"}.`);
        box.append(Object.assign(document.createElement("code"), {textContent: data.sass[o.inst]}));
        detail(o).forEach(say);
    }
    say(`The tensor pipe is ${busy ? "busy" : "idle"} at cycle ${state.now}.`);
    drawSource(o);
}
function drawSource(o) {
    const box = byId("source"), p = o && placeOf(o.inst);
    box.textContent = p ? "" : " no source line";
    if (!p) return;
    const {file, line, inner} = p;
    box.append(Object.assign(document.createElement("div"), {textContent: `${file.name}:${line}` + (inner ? `, which calls ${inner}` : "")}));
    for (let n = Math.max(1, line - 5); n <= Math.min(file.lines.length, line + 5); n++)
        box.append(Object.assign(document.createElement("div"), {textContent: `${String(n).padStart(4)}  ${file.lines[n - 1]}`, className: n === line ? "here" : ""}));
}

/* ---- Where O is wrong --------------------------------------------------------------------------------- */
const number = v => typeof v === "string" ? v === "NaN" ? NaN : v === "inf" ? Infinity : -Infinity : v;
function drawWrong() {
    const m = data.wrong;
    if (!m) return;
    byId("wrong").hidden = false;
    const canvas = byId("map"), c = canvas.getContext("2d"), w = Math.max(4, Math.floor(640 / m.dim)), h = m.n > 200 ? 2 : 6;
    const finite = m.expected.map(number).filter(Number.isFinite), rms = Math.sqrt(d3.mean(finite.map(v => v * v)) || 1e-30);
    const colour = d3.scale.linear().domain([.003, .03, .3]).range(["#e8e8e0", "#f0a050", "#a01010"]).clamp(true);
    let wrong = 0;
    canvas.width = m.dim * w; canvas.height = m.n * h;
    for (let i = 0; i < m.n * m.dim; i++) {
        const e = number(m.expected[i]), g = number(m.got[i]), error = Math.abs(g - e) / rms;
        c.fillStyle = m.expected[i] === "NaN" ? "#9a9a9a" : !Number.isFinite(g) ? "#6a1b9a" : colour(error);
        if (error > .03 || !Number.isFinite(g)) wrong++;
        c.fillRect(i % m.dim * w, Math.floor(i / m.dim) * h, w, h);
    }
    canvas.setAttribute("aria-label", `O of rows ${m.first} to ${m.first + m.n - 1} and ${m.dim} columns: ${wrong} of ${m.n * m.dim} elements are off by more than 3 % of a typical element`);
    byId("wrong-about").textContent = `${m.what}. Rows ${m.first} to ${m.first + m.n - 1} from top to bottom, columns from left to right. Red is far from what is expected, purple is no finite number, grey was not computed for comparison.`;
    let at = 0;
    const show = i => {
        at = Math.max(0, Math.min(m.n * m.dim - 1, i));
        byId("wrong-value").textContent = `O[${m.first + Math.floor(at / m.dim)}, ${at % m.dim}]: expected ${m.expected[at]}, got ${m.got[at]}.`;
    };
    canvas.onclick = e => show(Math.floor(e.offsetY / h) * m.dim + Math.floor(e.offsetX / w));
    canvas.onkeydown = e => {
        const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: m.dim, ArrowUp: -m.dim}[e.key];
        if (step) { e.preventDefault(); e.stopPropagation(); show(at + step); }
    };
    const worst = m.expected.findIndex((e, i) => !Number.isFinite(number(m.got[i])) || Math.abs(number(m.got[i]) - number(e)) > .3 * rms);
    show(Math.max(0, worst));
}

/* ---- Moving in time -------------------------------------------------------------------------------- */
function draw() {
    byId("scrub").value = state.now;
    byId("now").textContent = `cycle ${state.now} of ${data.shown}, ${us(state.now)}`;
    const op = current(), first = op && [...touched(op).writes, ...touched(op).reads][0];
    if (first && !state.pinned && regionOf(first.begin) >= 0) state.region = regionOf(first.begin);
    if (byId("region").options.length) byId("region").selectedIndex = state.region;
    drawLanes(); drawOperation(); drawTile(); drawFragment(); drawBarriers(); showElement();
}
function go(t) { state.now = Math.max(0, Math.min(data.shown, Math.round(t))); draw(); }
function step(by) {
    const list = mine(), n = before(list, state.now), t = list[n] ? list[n].time : -1;
    let k = n + by;
    if (by < 0) while (k >= 0 && list[k].time === t) k--;
    state.pinned = false;
    if (list[k]) go(list[k].time); else go(by < 0 ? 0 : data.shown);
}
/* The beginning of the next wait of at least 50 cycles of the chosen warp, or of any. */
function nextWait() {
    let best = Infinity, warp = state.warp;
    for (const w of warps.values()) {
        if (state.warp >= 0 && w.warp !== state.warp) continue;
        for (let n = d3.bisectRight(w.time, state.now) + 1; n < w.time.length; n++) {
            if (w.time[n - 1] + 1 <= state.now || w.time[n] - w.time[n - 1] < 50 || w.reason[n] < 0 || whatOf(w.reason[n], w.inst[n]) === "works") continue;
            if (w.time[n - 1] + 1 < best) { best = w.time[n - 1] + 1; warp = w.warp; }
            break;
        }
    }
    if (best === Infinity) return;
    const found = warps.get(warp), n = d3.bisectRight(found.time, best);
    go(best);
    byId("operation").prepend(Object.assign(document.createElement("p"), {className: "wait",
        textContent: `Warp ${warp} ${whats[whatOf(found.reason[n], found.inst[n])]} from cycle ${best} to ${found.time[n]}, at ${placeText(found.inst[n])}.`}));
}
function nextPhase() {
    const phase = new Map();
    for (const b of data.barriers) {
        if (b[1] !== 0) continue;
        const ended = b[8] !== (phase.get(b[2]) || 0);
        phase.set(b[2], b[8]);
        if (ended && b[0] > state.now) { go(b[0]); return; }
    }
}
function play() {
    byId("play").textContent = state.playing ? "Play" : "Pause";
    if (state.playing) { clearInterval(state.playing); state.playing = 0; return; }
    state.playing = setInterval(() => { if (state.now >= data.shown) play(); else step(1); }, 400);
}

/* ---- Setting up -------------------------------------------------------------------------------------- */
function setUp() {
    byId("title").textContent = data.title;
    byId("about").textContent = `Kernel ${data.kernel}, its first block, at ${data.mhz} MHz, predicted: ${data.validated}.` +
        (data.shown < data.whole ? ` The page has the first ${data.shown} of ${data.whole} cycles: it would be too large with all of them.` : "");
    byId("stopped").textContent = data.stopped && "The block does not end. " + data.stopped + ". From its last instruction on, each warp waits.";
    byId("scrub").max = data.shown;
    d3.select("#warp").selectAll("option").data([-1, ...laneOrder.map(w => w.warp)]).enter().append("option").attr("value", d => d).text(d => d < 0 ? "all" : `${d}, ${warps.get(d).role}`);
    d3.select("#region").selectAll("option").data(regions).enter().append("option").text(r => `${r.text}, ${hex(r.begin)} to ${hex(r.end - 1)}`);
    byId("lane-key").innerHTML = Object.entries({...whats, busy: "the pipe is busy"}).map(([name, text]) => `<span><i style="background:var(--${name})"></i>${text}</span>`).join("");
    byId("first").onclick = () => go(0);
    byId("back").onclick = () => step(-1);
    byId("next").onclick = () => step(1);
    byId("play").onclick = play;
    byId("wait").onclick = nextWait;
    byId("turn").onclick = nextPhase;
    byId("scrub").oninput = e => { state.pinned = false; go(+e.target.value); };
    byId("warp").onchange = e => { state.warp = +e.target.value; state.pinned = false; draw(); };
    byId("region").onchange = e => { state.region = e.target.selectedIndex; state.pinned = true; draw(); };
    d3.select("#timeline").call(zoom).on("click", function () {
        if (d3.event.defaultPrevented) return;
        const [px, py] = d3.mouse(this), w = laneOrder[Math.floor((py - 22) / row)];
        if (w) { state.warp = w.warp; byId("warp").value = w.warp; }
        state.pinned = false;
        go(x.invert(px));
    });
    document.addEventListener("keydown", e => {
        if (/^(INPUT|SELECT)$/.test(e.target.tagName) || e.ctrlKey || e.altKey || e.metaKey) return;
        const does = {ArrowRight: () => step(1), ArrowLeft: () => step(-1), Home: () => go(0), End: () => go(data.shown), w: nextWait, p: nextPhase, "0": showAll,
            " ": e.target.tagName === "BUTTON" ? null : play}[e.key];
        if (does) { e.preventDefault(); does(); }
    });
    const asked = new URLSearchParams(location.hash.slice(1));
    if (asked.has("warp")) { state.warp = +asked.get("warp"); byId("warp").value = state.warp; }
    drawWrong();
    const first = operations.find(o => o.kind === HGMMA || o.kind === HMMA) || operations.find(o => touched(o).writes.length);
    go(asked.has("t") ? +asked.get("t") : first ? first.time : 0);
}
setUp();
