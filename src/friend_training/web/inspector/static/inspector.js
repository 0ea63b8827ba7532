// The inspector's page. Whatever comes from a run is put in as text (textContent), never as markup.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const RANGES = ["confidence_from", "confidence_to", "match_from", "match_to", "overall_from", "overall_to"];
const WEIGHT_NAMES = { csrl: "α", rewriting: "β" }; // the paper's letters for w
const PAGE_SIZE = 25;

const state = {
  run: null, task: null, iteration: null,
  setting: null, // null: what the run itself chose; else where the sliders stand
  recorded: null, page: 0, found: 0, units: [], unit: null, shown: null, draft: null,
};

// ---------------------------------------------------------------- small helpers

const $ = (id) => document.getElementById(id);

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "className") node.className = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function svg(tag, attributes = {}, text = null) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== null) node.textContent = text;
  return node;
}

const count = (value) => value.toLocaleString("en");
const percent = (value) => `${(100 * value).toFixed(1)} %`;
const score = (value) => (value === null ? "–" : value.toFixed(2));

function tell(problem) {
  $("problem").textContent = problem;
  $("problem").hidden = !problem;
}

async function ask(path, parameters = {}, options = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(given).toString();
  const response = await fetch(query ? `${path}?${query}` : path, options);
  const answer = await response.json().catch(() => ({ error: `${path}: no answer that can be read` }));
  if (!response.ok) throw new Error(answer.error || `${path}: ${response.status}`);
  return answer;
}

// Of several calls only the last one counts: those before it are dropped, wherever they are.
function latest(work) {
  let running = null;
  return async (...values) => {
    running?.abort();
    const own = (running = new AbortController());
    try {
      await work(own.signal, ...values);
      if (running === own) tell("");
    } catch (error) {
      if (error.name !== "AbortError") tell(error.message);
    }
  };
}

function after(milliseconds, work) {
  let timer = null;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, milliseconds);
  };
}

// ---------------------------------------------------------------- what is asked for

function wanted() {
  return { task: state.task, iteration: state.iteration, ...(state.setting || {}) };
}

function filter() {
  const ranges = Object.fromEntries(RANGES.map((name) => [name, $(name).value]));
  return {
    ...wanted(), ...ranges,
    chosen: $("filter-chosen").value,
    reason: $("filter-reason").value,
    correct: $("filter-correct").value,
    by_hand: $("filter-by-hand").checked ? true : "",
    search: $("search").value,
    sort: $("sort").value,
    descending: $("direction").textContent === "↓",
  };
}

const showSelection = latest(async (signal) => {
  const answer = await ask("/api/selection", wanted(), { signal });
  state.recorded = answer.recorded;
  drawSelection(answer);
});

const showUnits = latest(async (signal) => {
  const answer = queue.on ? await askQueue(signal)
    : await ask("/api/units", { ...filter(), page: state.page, size: PAGE_SIZE }, { signal });
  state.units = answer.units;
  state.found = answer.found;
  drawTextsState(answer.texts);
  drawList();
});

const showUnit = latest(async (signal, unit) => {
  const slow = setTimeout(() => signal.aborted || sayReading(), 400); // the first one may wait for texts and models
  const answer = await ask("/api/unit", { ...wanted(), unit }, { signal }).finally(() => clearTimeout(slow));
  state.unit = unit;
  state.shown = answer;
  state.draft = null;
  drawDetail();
});

function sayReading() {
  $("detail").replaceChildren(el("p", { class: "note", role: "status" }, "Reading the run's dialogues and models …"));
}

const showUnitsSoon = after(120, () => showUnits());
const showUnitSoon = after(200, () => state.unit && !state.draft && showUnit(state.unit));

function showAll() {
  const link = (format) => `/api/export?${new URLSearchParams(
    Object.entries({ ...filter(), format }).filter(([, value]) => value !== "" && value !== null))}`;
  $("export-jsonl").href = link("jsonl");
  $("export-parquet").href = link("parquet");
  showSelection();
  showUnitsSoon();
}

function showFromFirstPage() {
  state.page = 0;
  showAll();
}

// ---------------------------------------------------------------- the selection: sliders, figures, histogram

function drawSelection(answer) {
  $("chosen").textContent = count(answer.chosen);
  $("chosen-of").textContent = `of ${count(answer.units)} chosen, ${percent(answer.units ? answer.chosen / answer.units : 0)}`;
  $("precision").textContent = answer.precision === null ? "–" : percent(answer.precision);
  $("precision-of").textContent = answer.accuracy === null ? "right: not known" : `right; of all ${percent(answer.accuracy)}`;
  const difference = answer.chosen - answer.recorded.chosen;
  const sign = difference > 0 ? "+" : "−";
  $("against-run").textContent = `The run chose ${count(answer.recorded.chosen)}` +
    (difference ? ` (${sign}${count(Math.abs(difference))})` : "") + (answer.by_hand ? `; ${count(answer.by_hand)} by hand` : "");
  drawSliders();
  drawHistogram(answer.histogram);
  drawReasons(answer.reasons);
}

function standing() {
  return state.setting || state.recorded?.setting || { confidence_weight: 0.2, threshold: 0.6, content: "any", unmatched: "reject" };
}

function drawSliders() {
  const now = standing();
  $("weight").value = now.confidence_weight;
  $("threshold").value = now.threshold;
  $("content").checked = now.content === "only";
  $("weight-value").textContent = Number(now.confidence_weight).toFixed(2);
  $("threshold-value").textContent = Number(now.threshold).toFixed(2);
  $("weight-name").textContent = WEIGHT_NAMES[state.task] || "";
  $("reset").disabled = state.setting === null;
}

function moveSliders() {
  state.setting = {
    ...standing(),
    confidence_weight: Number($("weight").value),
    threshold: Number($("threshold").value),
    content: $("content").checked ? "only" : "any",
  };
  drawSliders();
  state.page = 0;
  showAll();
  showUnitSoon();
}

function drawHistogram(histogram) {
  const [width, height, left, foot] = [300, 120, 4, 14];
  const truths = ["right", "wrong", "unknown"];
  const totals = histogram.chosen.right.map((_, bin) =>
    truths.reduce((sum, truth) => sum + histogram.chosen[truth][bin] + histogram.rejected[truth][bin], 0));
  const top = Math.max(1, ...totals);
  const x = (value) => left + value * (width - 2 * left);
  const nodes = [svg("line", { class: "axis", x1: left, x2: width - left, y1: height - foot, y2: height - foot })];
  totals.forEach((_, bin) => {
    let y = height - foot;
    for (const kind of ["chosen", "rejected"]) {
      for (const truth of truths) {
        const size = (histogram[kind][truth][bin] / top) * (height - foot - 12);
        if (!size) continue;
        y -= size;
        const bar = svg("rect", { class: `bar-${truth} ${kind}`, x: x(bin / totals.length) + 0.5, y,
          width: x(1 / totals.length) - left - 1, height: size });
        bar.append(svg("title", {}, `${kind}, ${truth === "unknown" ? "not known" : truth}: ${count(histogram[kind][truth][bin])}`));
        nodes.push(bar);
      }
    }
  });
  const line = x(standing().threshold);
  if (state.setting || state.recorded?.setting) {
    nodes.push(svg("line", { class: "threshold", x1: line, x2: line, y1: 4, y2: height - foot }));
  }
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    const anchor = tick === 0 ? "start" : tick === 1 ? "end" : "middle";
    nodes.push(svg("text", { x: x(tick), y: height - 3, "text-anchor": anchor }, String(tick)));
  }
  $("histogram").replaceChildren(...nodes);
  const present = truths.filter((truth) => [...histogram.chosen[truth], ...histogram.rejected[truth]].some(Boolean));
  const words = { right: "right", wrong: "wrong", unknown: "not known" };
  const legend = present.map((truth) => el("span", {}, el("span", { className: `swatch ${truth}` }), words[truth]));
  legend.push(el("span", {}, el("span", { className: "swatch rejected" }), "pale: not chosen"));
  if (histogram.without_score) legend.push(el("span", {}, `${count(histogram.without_score)} without a score`));
  $("legend").replaceChildren(el("span", {}, "overall score:"), ...legend);
}

function drawReasons(reasons) {
  const select = $("filter-reason");
  const before = select.value;
  const names = Object.keys(reasons);
  if (before && !names.includes(before)) names.push(before);
  select.replaceChildren(el("option", { value: "" }, "any"),
    ...names.map((name) => el("option", { value: name }, `${name} (${count(reasons[name] || 0)})`)));
  select.value = before;
}

// ---------------------------------------------------------------- the list

function drawTextsState(texts) {
  $("texts-state").textContent = texts === "ready" ? "" : texts === "reading" ? "reading the texts of the pool …" : texts;
  if (texts === "reading") setTimeout(() => { showUnits(); showUnitSoon(); }, 1500);
}

function drawList() {
  $("found").textContent = state.found === 1 ? "1 unit" : `${count(state.found)} units`;
  $("units").replaceChildren(...state.units.map(listItem));
  const pages = Math.max(1, Math.ceil(state.found / PAGE_SIZE));
  $("page-number").textContent = `page ${count(state.page + 1)} of ${count(pages)}`;
  $("previous").disabled = state.page === 0;
  $("next").disabled = state.page + 1 >= pages;
  drawQueue();
  if (!state.unit && state.units.length) showUnit(state.units[0].unit).then(markCurrent);
  markCurrent();
}

function chips(says) {
  const looks = (mark) => (mark === "unsure" ? mark : roleClass(mark) || "plain");
  return says.map(([mark, words]) => el("span", { className: `chip ${looks(mark)}`, "data-role": roleName(mark),
    title: mark === "unsure" ? "left open: not taught as absent" : null }, words || "∅"));
}

function listItem(unit) {
  const says = chips(unit.says);
  const facts = [
    el("span", { className: `decision ${unit.chosen ? "yes" : "no"}` }, unit.chosen ? "chosen" : unit.reason),
    el("span", { title: "confidence" }, `c ${score(unit.confidence)}`),
    el("span", { title: "match" }, `m ${score(unit.match)}`),
    el("span", { title: "overall score" }, `s ${score(unit.overall)}`),
    unit.correct === null ? null : el("span", { className: unit.correct ? "right-word" : "wrong-word" }, unit.correct ? "right" : "wrong"),
    unit.by_hand ? el("span", { className: "hand" }, unit.by_hand) : null,
    unit.why ? el("span", { className: "why" }, unit.why) : null,
  ];
  const open = () => showUnit(unit.unit).then(() => { markCurrent(); bringIntoView(); });
  return el("li", { tabindex: 0, "data-unit": unit.unit, onclick: open, onkeydown: (event) => event.key === "Enter" && open() },
    el("div", { className: "says" }, ...says),
    el("div", { className: "utterance" }, unit.text === null ? unit.input : unit.text),
    el("div", { className: "facts" }, ...facts));
}

function markCurrent() {
  for (const item of $("units").children) item.setAttribute("aria-current", String(item.dataset.unit === state.unit));
}

// On a narrow page the unit stands below the list: whoever chooses one is taken there.
function bringIntoView() {
  if (matchMedia("(max-width: 1000px)").matches) $("detail").scrollIntoView({ block: "start" });
}

function step(by) {
  const place = state.units.findIndex((unit) => unit.unit === state.unit);
  const next = state.units[place + by];
  if (!next) return;
  showUnit(next.unit).then(() => {
    markCurrent();
    document.querySelector('#units [aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  });
}

// ---------------------------------------------------------------- one unit

const roleName = (mark) => (state.run.roles.includes(mark) ? mark : null);
const roleClass = (mark) => (state.run.roles.includes(mark) || mark === "predicate" || mark === "source" ? mark : "");

function drawDetail() {
  const unit = state.shown;
  const parts = [head(unit), input(unit), state.draft ? editor() : null, label(unit), gold(unit), ...friends(unit), scores(unit), actions(unit)];
  $("detail").replaceChildren(...parts.flat().filter(Boolean));
}

function head(unit) {
  const decision = unit.chosen ? unit.reason : `not chosen: ${unit.reason}`;
  const truth = unit.correct === null || queue.on ? null // whoever is asked is not told
    : el("span", { className: `pill ${unit.correct ? "right-word" : "wrong-word"}` }, unit.correct ? "right by hidden gold" : "wrong by hidden gold");
  return el("div", { className: "head" },
    el("span", { className: `pill ${unit.chosen ? "yes" : "no"}`, id: "decision" }, decision),
    truth,
    unit.correction ? el("span", { className: "pill hand", id: "verdict" }, `${unit.correction.verdict} by hand`) : null,
    el("span", { className: "id" }, unit.unit));
}

function part(title, ...children) {
  return el("section", { className: "part" }, el("h2", {}, title), ...children);
}

function input(unit) {
  const given = unit.given;
  if (!given) return el("p", { className: "note" }, `${unit.input}: its text is not known. ${unit.texts === "ready" ? "" : unit.texts}`);
  if (given.turns) return conversation(given, state.draft?.marks || unit.marks || []);
  if (unit.kind === "tree" || unit.kind === "heads" || unit.kind === "tags") return null; // drawn with its words
  return el("p", { className: "rewrite" }, given.text ?? (given.words || []).join(" "));
}

// Characters are code points here, as in the run: an emoji is one.
function segments(text, marks) {
  const characters = Array.from(text);
  const inside = marks.map((mark) => ({ ...mark, start: Math.max(0, mark.start), end: Math.min(characters.length, mark.end) }))
    .filter((mark) => mark.start < mark.end);
  const cuts = [...new Set([0, characters.length, ...inside.flatMap((mark) => [mark.start, mark.end])])].sort((a, b) => a - b);
  return cuts.slice(0, -1).map((start, index) => {
    const end = cuts[index + 1];
    const what = inside.filter((mark) => mark.start <= start && end <= mark.end).map((mark) => mark.what);
    const classes = what.map(roleClass).filter(Boolean);
    const last = inside.some((mark) => mark.end === end && what.includes(mark.what));
    const first = inside.some((mark) => mark.start === start && what.includes(mark.what));
    const ends = `${first ? " first" : ""}${last ? " last" : ""}`;
    return el("span", { className: classes.length ? `mark ${classes.join(" ")}${ends}` : null, "data-start": start,
      "data-role": last ? what.find(roleName) : null }, characters.slice(start, end).join(""));
  });
}

function conversation(given, marks) {
  const first = given.turns[0].speaker;
  const turns = given.turns.map((turn, number) => ({ ...turn, number, last: number === given.turns.length - 1 }));
  if (marks.some((mark) => mark.turn === -1)) {
    const other = given.turns.find((turn) => turn.speaker !== first);
    turns.unshift({ speaker: other ? other.speaker : "?", text: "", number: -1, last: false });
  }
  return el("div", { className: `conversation${state.draft ? " editing" : ""}` }, ...turns.map((turn) => {
    const here = marks.filter((mark) => mark.turn === turn.number);
    const spoken = here.filter((mark) => mark.start === -1).map((mark) => mark.what);
    const speaker = el("span", { className: `speaker ${spoken.map(roleClass).join(" ")} ${spoken.length ? "chip" : ""}`.trim(),
      "data-role": spoken.find(roleName), "data-turn": turn.number, onclick: () => chooseSpeaker(turn.number) }, turn.speaker);
    const text = turn.number === -1 ? el("span", { className: "note" }, "has not spoken yet") : el("span", {}, ...segments(turn.text, here));
    return el("div", { className: `turn ${turn.speaker === first ? "" : "other"} ${turn.last ? "current" : ""}` },
      speaker, el("div", { className: "bubble", "data-turn": turn.number }, text));
  }));
}

function label(unit) {
  if (unit.kind === "roles") return null; // it is in the conversation
  if (unit.kind === "rewrite") return part("Rewritten", rewriteOf(unit));
  return part("Label", drawing(unit.kind, unit.label, unit.given));
}

// What would have been right, beside what is wrong; whoever is asked in the queue is not told.
function gold(unit) {
  if (unit.correct !== false || !unit.gold || queue.on) return null;
  return part("Hidden gold", said(unit.gold, unit.given));
}

function said(one, given) {
  if (one.kind === "rewrite") return rewriteOf(one);
  if (one.kind === "roles") return el("p", { className: "says" }, ...chips(one.says));
  return drawing(one.kind, one.label, given);
}

function rewriteOf(unit) {
  if (!unit.edits) return el("p", { className: "rewrite" }, unit.label.text);
  const tags = { kept: "span", deleted: "del", inserted: "ins" };
  const pieces = unit.edits.map((piece) => el(tags[piece.kind],
    { className: piece.kind, title: piece.turn === null ? null : `from turn ${piece.turn + 1}` }, piece.text));
  const changed = unit.edits.some((piece) => piece.kind !== "kept");
  return el("p", { className: "rewrite" }, ...pieces, changed ? null : el("span", { className: "note" }, "  unchanged"));
}

function drawing(kind, value, given) {
  const words = given?.words || [];
  if (kind === "tree") return el("div", { className: "scroll" }, treePicture(value, words));
  if (kind === "heads") return el("div", { className: "scroll" }, headsPicture(value, words));
  if (kind === "tags") {
    return el("p", { className: "rewrite" }, ...value.tags.map((tag, place) => el("span", {}, `${words[place] ?? "?"}/${tag} `)));
  }
  return el("p", { className: "rewrite" }, typeof value === "string" ? value : JSON.stringify(value));
}

function friends(unit) {
  const parts = [];
  for (const friend of unit.friends) {
    // The roles of all predicates stand in the table of matching, where there is one.
    if (friend.kind !== "roles" || !unit.compared) parts.push(part(`${friend.task} says`, said(friend, unit.given), friendScores(friend)));
  }
  for (const one of unit.means) parts.push(meaning(one));
  if (unit.compared) parts.push(comparison(unit));
  else if (unit.kind === "rewrite" && unit.given && unit.recorded.match === null) parts.push(part("Matching", el("p", { className: "note" }, "The last turn has no predicate: there is nothing to match.")));
  else if (unit.not_compared) parts.push(part("Matching", el("p", { className: "note" }, unit.not_compared)));
  return parts;
}

// Both labels in the common space of a friendship: what is compared there.
function meaning(one) {
  const row = (task, says) => el("tr", {}, el("td", {}, task), el("td", {}, says));
  return part(`What it means, ${one.friendship}`, el("table", { className: "means" }, el("tbody", {}, row(one.first, one.first_says), row(one.second, one.second_says))));
}

function friendScores(friend) {
  const truth = friend.correct === null ? "" : friend.correct ? ", right" : ", wrong";
  return el("p", { className: "note" }, `confidence ${score(friend.confidence)}, ${friend.reason}${truth}`);
}

function comparison(unit) {
  const { predicates, match } = unit.compared;
  const own = unit.kind === "roles" ? predicates.filter((one) => one.start === unit.label.predicate.start && one.end === unit.label.predicate.end) : predicates;
  const value = unit.kind === "roles" ? own[0]?.match ?? null : match;
  const stored = unit.recorded.match;
  const parts = own.map((one) => predicateTable(one, unit.compared.rewrite));
  if (unit.kind !== "roles" && predicates.length > 1) {
    parts.push(el("p", { className: "sum" }, `m′ = ${unit.compared.mean} mean of ${predicates.map((one) => score(one.match)).join(", ")} = ${score(match)}`));
  }
  if (!Object.keys(unit.recorded.matches).length) {
    parts.push(el("p", { className: "note" }, "This method did not match: it is shown what its friend would have said."));
  } else if (stored === null || value === null ? stored !== value : Math.abs(stored - value) > 1e-6) {
    parts.push(el("p", { className: "note", id: "otherwise" }, `The run's score is ${score(stored)}: it compared otherwise, with another prediction or before a label was corrected.`));
  }
  return part("Matching, role by role", ...parts);
}

function predicateTable(one, rewrite) {
  const said = (words, role) => (words ? el("span", { className: `chip ${roleClass(role)}` }, words) : el("span", { className: "none" }, "–"));
  const rows = one.roles.map((role) => el("tr", { className: role.match === 1 ? null : "differs" },
    el("td", {}, role.role), el("td", {}, said(role.roles_say, role.role)), el("td", {}, said(role.rewrite_says, role.role)),
    el("td", { className: "number" }, role.match === 1 ? "same" : score(role.match))));
  const sum = one.longest ? `m = 1 − ${one.distance}/${one.longest} = ${score(one.match)}` : "m = 1: neither says anything";
  return el("div", { className: "compared" },
    el("p", {}, el("span", { className: "predicate" }, one.text), " ", el("span", { className: "sum" }, sum),
      one.deleted ? el("span", { className: "note" }, "  the rewrite deletes this predicate") : null),
    rows.length ? el("table", {},
      el("thead", {}, el("tr", {}, el("th", {}, "role"), el("th", {}, "roles in the dialogue"), el("th", {}, "bridge, in the rewrite"), el("th", {}, "alike"))),
      el("tbody", {}, ...rows)) : null,
    el("p", { className: "note" }, "The bridge reads: ", ...segments(rewrite, one.read)));
}

function scores(unit) {
  const now = standing();
  const meter = (name, value) => [el("span", {}, name), value === null ? el("span", { className: "none" }, "nothing to match") : el("progress", { max: 1, value }), el("span", { className: "sum" }, score(value))];
  const rows = [...meter("confidence", unit.confidence), ...meter("match", unit.match), ...meter("overall", unit.overall)];
  const w = now.confidence_weight;
  const known = state.setting || state.recorded?.setting;
  const sum = known && unit.overall !== null && unit.match !== null
    ? `${score(w)} · ${score(unit.confidence)} + ${score(1 - w)} · ${score(unit.match)} = ${score(unit.overall)} ${unit.overall >= now.threshold ? "≥" : "<"} ${score(now.threshold)}` : "";
  const recorded = unit.recorded;
  const before = `In the store: ${recorded.reason}, overall ${score(recorded.overall)}` +
    (recorded.threshold === null ? "" : `, threshold ${score(recorded.threshold)}`) + `, weight ${score(recorded.weight)}`;
  return part("Scores", el("div", { className: "scores" }, ...rows), el("p", { className: "sum" }, sum), el("p", { className: "note" }, before));
}

// ---------------------------------------------------------------- trees

function measured(words, texts) {
  const context = (measured.context ||= document.createElement("canvas").getContext("2d"));
  context.font = "13px sans-serif";
  const widths = words.map((word, place) => Math.max(...[word, ...texts.map((row) => row[place] ?? "")].map((text) => context.measureText(text).width)) + 18);
  let x = 8;
  return widths.map((width) => { const place = { left: x, width, middle: x + width / 2 }; x += width; return place; });
}

function treePicture(tree, given) {
  const words = tree.tags.map((_, place) => given[place] ?? `word ${place + 1}`);
  const places = measured(words, [tree.tags]);
  // A phrase stands one row above the highest of those inside it; of two over the same words the first is outside.
  const height = (phrase, index) => 1 + Math.max(0, ...tree.brackets.map((other, number) =>
    number !== index && phrase.start <= other.start && other.end <= phrase.end
      && (other.end - other.start < phrase.end - phrase.start || number > index) ? rows[number] ?? 0 : 0));
  const rows = [];
  const inward = tree.brackets.map((_, index) => index).sort((a, b) => {
    const [one, other] = [tree.brackets[a], tree.brackets[b]];
    return one.end - one.start - (other.end - other.start) || b - a;
  });
  for (const index of inward) rows[index] = height(tree.brackets[index], index);
  const top = Math.max(0, ...rows);
  const picture = frame(places, top * 26 + 56);
  const floor = top * 26 + 14;
  tree.brackets.forEach((phrase, index) => {
    const y = floor - rows[index] * 26;
    const [from, to] = [places[phrase.start].left + 4, places[phrase.end - 1].left + places[phrase.end - 1].width - 4];
    picture.append(svg("path", { class: "phrase", d: `M${from},${y + 20} v-4 h${to - from} v4` }),
      svg("text", { x: (from + to) / 2, y: y + 12, "text-anchor": "middle", class: "label" }, phrase.label));
  });
  return withWords(picture, words, tree.tags, places, floor + 8);
}

function headsPicture(heads, given) {
  const words = heads.heads.map((_, place) => given[place] ?? `word ${place + 1}`);
  const places = measured(words, [heads.relations || []]);
  const reach = Math.max(1, ...heads.heads.map((head, place) => (head ? Math.abs(head - 1 - place) : 1)));
  const floor = Math.min(200, 26 + 20 * reach);
  const picture = frame(places, floor + 42);
  heads.heads.forEach((head, place) => {
    const to = places[place].middle;
    if (head === 0) {
      picture.append(svg("path", { class: "edge", d: `M${to},8 V${floor - 5}` }), svg("text", { x: to + 4, y: 16, class: "small" }, heads.relations?.[place] || "root"));
    } else {
      const shift = place < head - 1 ? -5 : 5;
      const from = places[head - 1].middle + shift;
      const up = floor - 10 - (floor - 24) * (Math.abs(head - 1 - place) / reach);
      picture.append(svg("path", { class: "edge", d: `M${from},${floor} C${from},${up} ${to},${up} ${to},${floor - 5}` }));
      if (heads.relations) picture.append(svg("text", { x: (from + to) / 2, y: floor - (floor - up) * 0.75 - 3, class: "small", "text-anchor": "middle" }, heads.relations[place]));
    }
    picture.append(svg("path", { class: "tip", d: `M${to - 3.5},${floor - 7} h7 l-3.5,7 z` }));
  });
  return withWords(picture, words, null, places, floor + 4);
}

function frame(places, height) {
  const last = places[places.length - 1];
  const width = last ? last.left + last.width + 8 : 20;
  return svg("svg", { class: "tree", width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
}

function withWords(picture, words, tags, places, y) {
  words.forEach((word, place) => {
    if (tags) picture.append(svg("text", { x: places[place].middle, y: y + 8, class: "small", "text-anchor": "middle" }, tags[place]));
    picture.append(svg("text", { x: places[place].middle, y: y + (tags ? 27 : 16), "text-anchor": "middle" }, word));
  });
  return picture;
}

// ---------------------------------------------------------------- by hand

function actions(unit) {
  if (state.draft) return null;
  const said = (verdict) => () => correct(verdict);
  return el("div", { className: "actions" },
    el("button", { type: "button", className: "primary", id: "accept", onclick: said("accepted") }, "Accept", el("kbd", {}, "a")),
    el("button", { type: "button", id: "edit", onclick: startEditing, disabled: !editable(unit) }, "Correct", el("kbd", {}, "e")),
    el("button", { type: "button", className: "danger", id: "reject", onclick: said("rejected") }, "Reject", el("kbd", {}, "x")),
    unit.correction ? el("button", { type: "button", className: "quiet", id: "withdraw", onclick: said("withdrawn") }, "take back") : null,
    el("span", { className: "note" }, state.run.finished ? "Kept with the run, which has made its last selection." : "Used from the run's next selection on."));
}

function editable(unit) {
  return (unit.kind !== "roles" && unit.kind !== "rewrite") || Boolean(unit.given);
}

async function correct(verdict, label = null) {
  const unit = state.shown;
  if (!unit) return;
  const body = JSON.stringify({ task: unit.task, iteration: state.iteration, unit: unit.unit, verdict, label });
  try {
    await ask("/api/corrections", {}, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    tell("");
  } catch (error) {
    tell(error.message);
    return;
  }
  if (queue.on && verdict !== "withdrawn") return nextInQueue(true);
  await showUnit(unit.unit);
  showAll();
}

function startEditing() {
  const unit = state.shown;
  const said = unit.correction?.label ?? unit.label;
  if (unit.kind === "roles") {
    const argumentsNow = said.arguments.map((argument) => ({ ...argument }));
    state.draft = { kind: "roles", arguments: argumentsNow };
    markDraft();
  } else if (unit.kind === "rewrite") state.draft = { kind: "rewrite", text: said.text };
  else if (unit.choices.length) state.draft = { kind: "class", text: said };
  else state.draft = { kind: "other", text: JSON.stringify(said, null, 1) };
  drawDetail();
  $("detail").querySelector("textarea, .editor select")?.focus();
}

function markDraft() {
  const { predicate } = state.shown.label;
  const last = state.shown.given.turns.length - 1;
  state.draft.marks = [...state.draft.arguments.map((one) => ({ ...one, what: one.role })), { turn: last, ...predicate, what: "predicate" }];
}

function stopEditing() {
  state.draft = null;
  drawDetail();
}

function editor() {
  const draft = state.draft;
  const buttons = (save) => el("div", { className: "row" },
    el("button", { type: "button", className: "quiet", id: "cancel", onclick: stopEditing }, "cancel"),
    el("button", { type: "button", className: "primary", id: "save", onclick: save }, "Save the right label"));
  if (draft.kind === "roles") {
    const plain = draft.arguments.map((argument, index) => el("span", { className: `chip ${roleClass(argument.role)}`, "data-role": argument.role },
      wordsOf(argument), " ", el("button", { type: "button", className: "quiet", title: "remove", "aria-label": `remove ${argument.role}`, onclick: () => removeArgument(index) }, "×")));
    // Pressing a button must not take the selection away.
    const roles = state.run.roles.map((role) => el("button", { type: "button", className: roleClass(role), "data-add": role,
      onmousedown: (event) => event.preventDefault(), onclick: () => addArgument(role) }, role));
    const told = draft.speaker === undefined ? "Select words in the conversation, or click a speaker; then their role:" : "The speaker is selected; now the role:";
    return el("div", { className: "editor" }, el("p", {}, told), el("div", { className: "roles" }, ...roles),
      el("div", { className: "arguments" }, ...plain), buttons(() => correct("corrected", draft.arguments.map(({ role, turn, start, end }) => ({ role, turn, start, end })))));
  }
  if (draft.kind === "class") {
    const choices = state.shown.choices.map((one) => el("option", { value: one, selected: one === draft.text }, one));
    const list = el("select", { "aria-label": "the right label", onchange: () => { draft.text = list.value; } }, ...choices);
    return el("div", { className: "editor" }, el("p", {}, "The right label:"), list, buttons(() => correct("corrected", list.value)));
  }
  const box = el("textarea", { className: draft.kind === "other" ? "code" : null, "aria-label": "the right label", oninput: () => { draft.text = box.value; } });
  box.value = draft.text;
  const save = () => {
    if (draft.kind === "rewrite") return correct("corrected", draft.text);
    try {
      return correct("corrected", JSON.parse(draft.text));
    } catch {
      return tell("The label is not JSON.");
    }
  };
  const told = draft.kind === "rewrite" ? "The last turn as it should read; what is inserted must stand in the dialogue:" : "The label as the store writes it:";
  return el("div", { className: "editor" }, el("p", {}, told), box, buttons(save));
}

function wordsOf(argument) {
  if (argument.turn === -1) return "[the other speaker]";
  const turn = state.shown.given.turns[argument.turn];
  const words = Array.from(turn.text).slice(Math.max(0, argument.start), argument.end).join("");
  return argument.start === -1 ? `[${turn.speaker}]${words}` : words;
}

function chooseSpeaker(turn) {
  if (state.draft?.kind !== "roles") return;
  state.draft.speaker = turn;
  window.getSelection().removeAllRanges();
  drawDetail();
}

// Where a selection begins or ends: the turn, and how many characters of it come before.
function placeIn(node, offset) {
  const segment = (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest("[data-start]");
  const bubble = segment?.closest(".bubble[data-turn]");
  if (!bubble) return null;
  const before = node.nodeType === Node.TEXT_NODE ? node.textContent.slice(0, offset) : offset ? segment.textContent : "";
  return { turn: Number(bubble.dataset.turn), at: Number(segment.dataset.start) + Array.from(before).length };
}

function addArgument(role) {
  const draft = state.draft;
  if (draft.speaker !== undefined) {
    draft.arguments.push({ role, turn: draft.speaker, start: -1, end: 0 });
    delete draft.speaker;
  } else {
    const selection = window.getSelection();
    const range = selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
    const from = range && placeIn(range.startContainer, range.startOffset);
    const to = range && placeIn(range.endContainer, range.endOffset);
    if (!from || !to || from.turn !== to.turn || from.at >= to.at) return tell("Select some words of one turn first.");
    draft.arguments.push({ role, turn: from.turn, start: from.at, end: to.at });
    selection.removeAllRanges();
  }
  tell("");
  markDraft();
  return drawDetail();
}

function removeArgument(index) {
  state.draft.arguments.splice(index, 1);
  markDraft();
  drawDetail();
}

// ---------------------------------------------------------------- the page as a whole

function drawTasks() {
  $("tasks").replaceChildren(...state.run.tasks.map((task) => el("button", { type: "button", role: "tab", "data-task": task.name,
    "aria-selected": String(task.name === state.task), onclick: () => chooseTask(task.name) }, task.name)));
}

function chooseTask(task) {
  Object.assign(state, { task, setting: null, recorded: null, unit: null, shown: null, draft: null, page: 0 });
  $("filter-reason").value = "";
  $("detail").replaceChildren();
  drawTasks();
  showAll();
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem("theme", name); } catch { /* a browser that keeps nothing still shows the page */ }
}

function listen() {
  for (const id of ["weight", "threshold"]) $(id).addEventListener("input", moveSliders);
  $("content").addEventListener("change", moveSliders);
  $("reset").addEventListener("click", () => { state.setting = null; showFromFirstPage(); showUnitSoon(); });
  $("filter").addEventListener("input", showFromFirstPage);
  $("filter").addEventListener("submit", (event) => event.preventDefault());
  $("filter").addEventListener("reset", () => setTimeout(showFromFirstPage));
  $("sort").addEventListener("change", showFromFirstPage);
  $("direction").addEventListener("click", () => { $("direction").textContent = $("direction").textContent === "↓" ? "↑" : "↓"; showFromFirstPage(); });
  $("previous").addEventListener("click", () => { state.page -= 1; showAll(); });
  $("next").addEventListener("click", () => { state.page += 1; showAll(); });
  $("iteration").addEventListener("change", () => { state.iteration = Number($("iteration").value); chooseTask(state.task); });
  $("queue").addEventListener("click", toggleQueue);
  $("panel").addEventListener("click", () => {
    const open = document.body.classList.toggle("with-panel");
    $("panel").setAttribute("aria-expanded", String(open));
  });
  $("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (state.draft) { if (event.key === "Escape") stopEditing(); return; }
    const does = { j: () => step(1), k: () => step(-1), a: () => correct("accepted"), x: () => correct("rejected"), e: () => state.shown && editable(state.shown) && startEditing() };
    if (queue.on) Object.assign(does, { n: () => nextInQueue(false), u: lastAgain });
    does[event.key]?.();
  });
}

async function start() {
  let kept = null;
  try { kept = localStorage.getItem("theme"); } catch { /* as above */ }
  document.documentElement.dataset.theme = kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  listen();
  try {
    state.run = await ask("/api/run");
  } catch (error) {
    tell(error.message);
    return;
  }
  $("run-name").textContent = state.run.name;
  $("method").textContent = state.run.method;
  document.title = `${state.run.name} · inspector`;
  state.iteration = state.run.iterations[state.run.iterations.length - 1];
  $("iteration").replaceChildren(...state.run.iterations.map((number) => el("option", { value: number }, String(number))));
  $("iteration").value = state.iteration;
  drawTextsState(state.run.texts === "reading" ? "" : state.run.texts);
  chooseTask(state.run.tasks[0].name);
}

start();
