# The sentence that each picture of `make compare` shows, from its table: NAME<tab>SENTENCE a line.
#
#   awk -v sms=132 -f plots/says.awk labels.txt table.txt > says.txt
#
# They are the alternative texts of the pictures and the lines under them in the report. `lesson` is there where the last
# stage keeps the tensor cores no busier than one before it. A value is of the last series that has it, which the
# sentence names measured or predicted.

function has(s, r, c) { return (s, r, c) in value && value[s, r, c] != "-" }
function short(v) { return v >= 100 ? sprintf("%.0f", v) : v >= 10 ? sprintf("%.1f", v) : sprintf("%.2g", v) }
function said(s) { return kind[s] }
function series_of(c,   s, r, found) {
    for (s = 1; s <= n_series; s++) for (r = 1; r <= n_rows; r++) if (has(s, r, c)) found = s
    return found
}
function list(n, part,   i, text) {
    for (i = 1; i <= n; i++) text = text (i == 1 ? "" : i == n ? " and " : ", ") part[i]
    return text
}
# "3.8 % of the cycles in stage 2, 30.5 % in stage 3 and 92.1 % in stage 6"
function values(s, c, unit, of,   r, n, part) {
    for (r = 1; r <= n_rows; r++) if (has(s, r, c) && !skip[r]) { part[n + 1] = short(value[s, r, c]) unit (n ? "" : of) " in stage " number[r]; n++ }
    return list(n, part)
}
# The most that a prediction and a measured value of one stage differ, in the same unit as the values.
function apart(c,   s, t, r, d, most) {
    most = -1
    for (s = 1; s <= n_series; s++) for (t = 1; t <= n_series; t++) if (kind[s] == "predicted" && kind[t] == "measured")
        for (r = 1; r <= n_rows; r++) if (has(s, r, c) && has(t, r, c) && !skip[r]) {
            d = value[s, r, c] - value[t, r, c]
            if (d < 0) d = -d
            if (d > most) most = d
        }
    return most
}
function apart_pct(c,   s, t, r, d, most) {
    most = -1
    for (s = 1; s <= n_series; s++) for (t = 1; t <= n_series; t++) if (kind[s] == "predicted" && kind[t] == "measured")
        for (r = 1; r <= n_rows; r++) if (has(s, r, c) && has(t, r, c) && value[t, r, c] > 0) {
            d = 100 * (value[s, r, c] / value[t, r, c] - 1)
            if (d < 0) d = -d
            if (d > most) most = d
        }
    return most
}
function say(name, sentence) { print name "\t" sentence }

FNR == 1 { file++; block = 0 }
file == 1 && FNR > 1 {
    n_series++
    kind[n_series] = $NF
    if ($NF == "predicted") alone = 1
    next
}
file == 1 || /^#/ || NF == 0 { next }
$1 == "number" { block++; n = 0; for (i = 1; i <= NF; i++) name[i] = $i; next }
{
    n++
    for (i = 1; i <= NF; i++) value[block, n, name[i]] = $i
    if (n > n_rows) { n_rows = n; number[n] = $1 }
}
END {
    time = alone ? "launch_us" : "time_us"
    rate = alone ? "launch_tflops" : "tflops"
    peak = alone ? "launch_peak_pct" : "peak_pct"
    how = alone ? "one launch alone" : "launches back to back"

    s = series_of("tensor_active_pct")
    for (r = 1; r <= n_rows; r++)
        if (s && has(s, r, "tensor_instructions") && value[s, r, "tensor_instructions"] == 0) { skip[r] = 1; none[++n_none] = number[r] }
    text = s ? values(s, "tensor_active_pct", " %", " of the cycles") : ""
    if (text != "") text = "The tensor cores work in " text " (" said(s) ")."
    else if (!n_none) text = "There is no value of how busy the tensor cores are."
    if (n_none) text = text (text == "" ? "" : " ") "Stage" (n_none > 1 ? "s " : " ") list(n_none, none) (n_none > 1 ? " have" : " has") " no tensor instructions."
    if ((d = apart("tensor_active_pct")) >= 0) text = text " Predicted and measured are at most " short(d) " points apart."
    say("tensor", text)

    # Why is the last stage not better here?
    r = n_rows
    for (q = 1; s && q < r; q++)
        if (has(s, q, "tensor_active_pct") && has(s, r, "tensor_active_pct") && value[s, q, "tensor_active_pct"] >= value[s, r, "tensor_active_pct"] && !skip[q]) best = q
    if (best && sms > 0 && has(s, r, "ctas")) {
        text = "Why is stage " number[r] " not better here? "
        if (value[s, r, "ctas"] <= sms && r > 1 && value[s, r, "flops"] < 1e10)
            text = text "It launches " value[s, r, "ctas"] " CTAs on " sms " SMs, each for one small tile: filling and draining its pipeline takes longer than the products between. A problem that fills the chip shows the opposite."
        else
            text = text "Its " value[s, r, "ctas"] " CTAs fill the " sms " SMs, so its lines of code (make stage-" number[r] " source) must say what its warps wait for."
        say("lesson", text)
    }
    delete skip

    s = series_of(time)
    text = s ? values(s, time, " us") : ""
    if (text == "") text = "There are no times."
    else {
        text = "Time of " how ": " text " (" said(s) ")."
        for (a = 1; a <= n_rows && !has(s, a, time); a++);
        for (b = n_rows; b > a && !has(s, b, time); b--);
        if (b > a && value[s, b, time] > 0) text = text " Stage " number[a] " takes " short(value[s, a, time] / value[s, b, time]) " times as long as stage " number[b] "."
    }
    if ((d = apart_pct(time)) >= 0) text = text " Predicted and measured are at most " short(d) " % apart."
    say("time", text)

    s = series_of(rate)
    text = s ? values(s, rate, " TFLOPS") : ""
    say("tflops", text == "" ? "There are no times, so there is no speed." : "Speed of " how ": " text " (" said(s) ").")
    s = series_of(peak)
    text = s ? values(s, peak, " %") : ""
    say("peak", text == "" ? "There are no times, so there is no share of the peak." : "FLOP rate of " how ", of the peak at its clock: " text " (" said(s) ").")

    s = series_of("bank_conflict_pct")
    n = 0
    delete part
    for (r = 1; s && r <= n_rows; r++) if (has(s, r, "bank_conflict_pct") && value[s, r, "bank_conflict_pct"] >= 0.05)
        part[++n] = short(value[s, r, "bank_conflict_pct"]) " %" (n > 1 ? "" : " of the shared-memory wavefronts") " in stage " number[r]
    say("conflicts", !s ? "There is no value of bank conflicts." : n ? "Bank conflicts make up " list(n, part) (n < n_rows ? "; the other stages have none" : "") " (" (kind[s] == "predicted" ? "counted by the emulator" : kind[s]) ")." : "No stage has bank conflicts.")

    s = series_of("occupancy_achieved_pct")
    t = series_of("occupancy_theoretical_pct")
    text = s ? "Warps fill " values(s, "occupancy_achieved_pct", " %", " of an SM") " (" said(s) ")." : ""
    if (t) text = text (text == "" ? "" : " ") "Registers, shared memory and block size allow " values(t, "occupancy_theoretical_pct", " %") "."
    say("occupancy", text == "" ? "There is no value of occupancy." : text)

    split("not_selected math_pipe wait gmma barrier short_scoreboard mio long_scoreboard lg branch no_instruction dispatch", key, " ")
    split("for their turn to issue|for an execution pipe|a fixed latency|before a WGMMA|at barriers|for shared memory or MUFU|for the queue to shared memory|for global memory or an mbarrier|for the queue to global memory|at branches|for the instruction cache|for dispatch", word, "|")
    s = series_of("stall_wait")
    n = 0
    delete part
    for (r = 1; s && r <= n_rows; r++) {
        if (!has(s, r, "stall_wait")) continue
        all = 1
        most = 0
        for (k = 1; k <= 12; k++) {
            v = has(s, r, "stall_" key[k]) ? value[s, r, "stall_" key[k]] : 0
            all += v
            if (v > value[s, r, "stall_" key[most]] || !most) most = k
        }
        part[++n] = "in stage " number[r] " " word[most] " (" short(100 * value[s, r, "stall_" key[most]] / all) " % of the cycles)"
    }
    say("stalls", n ? "Warps wait most: " list(n, part) "; " said(s) "." : "There are no stall counters.")

    n = 0
    delete part
    s = series_of("dram_bytes")
    for (r = 1; s && r <= n_rows; r++) if (has(s, r, "dram_bytes") && has(s, r, "tflops") && value[s, r, "dram_bytes"] * 40000 > value[s, r, "flops"])
        part[++n] = short(value[s, r, "flops"] / value[s, r, "dram_bytes"]) " FLOP a byte at " short(value[s, r, "tflops"]) " TFLOPS in stage " number[r]
    say("roofline", n ? "From DRAM: " list(n, part) "." : "No stage has both a time and more than a few bytes from DRAM.")
}
