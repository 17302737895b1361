// What an instructor would do with the class's page, and see. Runs in the page, behind its own script; the last element says what failed.
"use strict";
{
const said = [];
const check = (name, passed, seen) => said.push(`${passed ? "ok" : "not ok"} ${name}${passed ? "" : ": " + seen}`);
const column = (table, n) => [...table.tBodies[0].rows].map(row => row.cells[n].dataset.sort ?? row.cells[n].textContent);
try {
    const width = document.documentElement.scrollWidth;
    check("it is narrow enough", width <= window.innerWidth, width);
    check("it asks for nothing from a network", !document.querySelector("link, img, script[src], iframe"), "a link");
    const links = [...document.querySelectorAll("a[href^='#of-']")];
    check("students have links", links.length > 5, links.length);
    for (const link of links) {
        const to = document.querySelector(link.getAttribute("href"));
        to.open = false;
        link.click();
        if (!to.open) check("a link opens the student's feedback", false, link.textContent);
    }
    check("a student's name leads to her feedback", document.querySelector(links.find(a => a.textContent === "s1").getAttribute("href") + " summary").textContent === "s1", "another's");
    const steps = document.querySelector("table.sorted"), heads = steps.querySelectorAll("th[data-key]");
    const names = column(steps, 0).join();
    check("steps are in the course's order", names === "1a,lab 1,5c", names);
    heads[1].click();
    const down = column(steps, 1).join();
    heads[1].dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}));
    check("a title sorts both ways, by mouse and by keyboard", down === "2,1,1" && column(steps, 1).join() === "1,1,2", down);
    check("the title says so", heads[1].getAttribute("aria-sort") === "ascending", heads[1].getAttribute("aria-sort"));
    const matrix = document.querySelector(".matrix");
    matrix.querySelector("summary").click();
    check("checks and minutes of each student unfold", matrix.open && /4\s\/\s14/.test(matrix.textContent), matrix.textContent);
    check("each bar has a text", [...document.querySelectorAll("[role=img]")].every(bar => bar.getAttribute("aria-label")), "none");
} catch (e) { said.push("not ok " + e.stack); }
document.body.append(Object.assign(document.createElement("pre"), {id: "said", textContent: said.join("\n") + `\nend of ${said.length}`}));
}
