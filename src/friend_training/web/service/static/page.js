"use strict";
// Whatever was typed or answered is put on the page as text, never as markup.

const EXAMPLE = ["前天半夜银杏影业就发行了《春天城堡》", "你听说过《白色列车》吗？", "郑文博最近好火。", "他我还真没采访过~"];
const NAMED = /^\s*([^:：\s]{1,16})\s*[:：]\s*(.+)$/u;
const WHY = { "score below threshold": "below the threshold", "no content": "the label is empty" };
const byId = (id) => document.getElementById(id);

function element(tag, { text, className, ...attributes } = {}, children = []) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Offsets count characters, as Python does: a character beyond U+FFFF is one, though two units here.
const characters = (text) => Array.from(text);

function turnsTyped() {
  const lines = byId("turns").value.split("\n").filter((line) => line.trim());
  const named = lines.map((line) => NAMED.exec(line));
  if (lines.length && named.every(Boolean)) return named.map(([, speaker, text]) => ({ speaker, text }));
  return lines.map((text, number) => ({ speaker: "AB"[number % 2], text: text.trim() }));
}

async function asked(path, body) {
  const response = await fetch(path, body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const said = await response.json();
  if (!response.ok) throw new Error(said.error || `the service answered ${response.status}`);
  return said;
}

async function ask(event) {
  event.preventDefault();
  const turns = turnsTyped();
  const words = byId("predicates").value.split(/[,，、]/u).map((word) => word.trim()).filter(Boolean);
  const button = event.target.querySelector("button");
  button.disabled = true;
  byId("error").hidden = true;
  try {
    show(turns, await asked("/v1/agreement", words.length ? { turns, predicates: words } : { turns }));
  } catch (error) {
    byId("error").textContent = error.message;
    byId("error").hidden = false;
    byId("answer").hidden = true;
  } finally {
    button.disabled = false;
  }
}

function show(turns, answer) {
  showTabs(turns, answer.roles);
  showRewrite(turns[turns.length - 1].text, answer.rewrite);
  const parts = answer.predicates.map(compared);
  byId("agreement").replaceChildren(...parts, whole(answer));
  byId("answer").hidden = false;
}

function showTabs(turns, roles) {
  const tabs = roles.map((one) => element("button", { text: one.predicate, type: "button" }));
  const choose = (number) => {
    tabs.forEach((tab, index) => tab.setAttribute("aria-pressed", String(index === number)));
    byId("conversation").replaceChildren(...conversation(turns, roles[number]));
    const chosen = roles[number];
    byId("roles-note").textContent = !chosen
      ? "No predicate is asked about in the last turn."
      : `${chosen.arguments.length ? "" : "No arguments found. "}confidence ${number3(chosen.confidence)}`;
  };
  tabs.forEach((tab, number) => tab.addEventListener("click", () => choose(number)));
  byId("tabs").replaceChildren(...tabs);
  choose(0);
}

function conversation(turns, roles) {
  const found = roles ? roles.arguments : [];
  const rows = turns.map((turn, number) => {
    const last = number === turns.length - 1;
    const spans = found.filter((one) => one.turn === number && one.end > 0);
    const speaker = found.find((one) => one.turn === number && one.start < 0);
    return element("li", { className: last ? "last" : "" }, [
      speakerChip(turn.speaker, speaker),
      element("p", { className: "said", lang: "zh" }, marked(turn.text, spans, last ? roles : undefined)),
    ]);
  });
  const unheard = found.find((one) => one.turn < 0);
  if (unheard) rows.unshift(element("li", {}, [speakerChip("…", unheard), element("p", { className: "quiet", text: "whoever has not spoken yet" })]));
  return rows;
}

function speakerChip(name, argument) {
  if (!argument) return element("span", { className: "speaker", text: name });
  return element("span", { className: `speaker role ${argument.role}`, text: name, "data-role": argument.role });
}

// A predicate may stand inside an argument: letters are put together while both stay the same.
function marked(text, found, predicate) {
  const argumentAt = (at) => found.find((one) => one.start <= at && at < one.end);
  const isPredicate = (at) => Boolean(predicate) && predicate.start <= at && at < predicate.end;
  const parts = [];
  characters(text).forEach((letter, at) => {
    const [argument, inPredicate] = [argumentAt(at), isPredicate(at)];
    const before = parts[parts.length - 1];
    if (before && before.argument === argument && before.inPredicate === inPredicate) before.text += letter;
    else parts.push({ argument, inPredicate, text: letter, end: 0 });
    parts[parts.length - 1].end = at + 1;
  });
  return parts.map(({ argument, inPredicate, text: said, end }) => {
    if (!argument && !inPredicate) return said;
    const names = [argument && argument.role, inPredicate && "predicate"].filter(Boolean);
    const label = argument && argument.end === end ? { "data-role": argument.role } : {};
    return element("mark", { className: names.join(" "), text: said, title: names.join(", "), ...label });
  });
}

function showRewrite(text, rewrite) {
  const letters = characters(text);
  const deleted = new Set(rewrite.deleted);
  const inserted = new Map(rewrite.insertions.map((one) => [one.before, one]));
  const parts = [];
  for (let at = 0; at <= letters.length; at += 1) {
    const one = inserted.get(at);
    if (one) parts.push(element("ins", { text: one.text, title: `from turn ${one.turn + 1}` }));
    if (at === letters.length) break;
    const before = parts[parts.length - 1];
    if (!deleted.has(at)) parts.push(letters[at]);
    else if (before instanceof Element && before.tagName === "DEL") before.textContent += letters[at];
    else parts.push(element("del", { text: letters[at] }));
  }
  byId("edits").replaceChildren(...parts);
  byId("rewrite").textContent = rewrite.text;
  const changed = rewrite.deleted.length || rewrite.insertions.length;
  byId("rewrite-note").textContent = `${changed ? "" : "Nothing to add. "}confidence ${number3(rewrite.confidence)}`;
}

const number3 = (value) => (value === null ? "–" : value.toFixed(value > 0 && value < 0.001 ? 6 : 3));

function compared(one) {
  const rows = one.compared.map((role) => element("tr", {}, [
    element("td", {}, [element("span", { className: `tag ${role.role}`, text: role.role })]),
    element("td", { text: role.roles_say || "–", lang: "zh" }),
    element("td", { text: role.rewrite_says || "–", lang: "zh" }),
    element("td", { className: "number", text: number3(role.match) }),
  ]));
  const head = ["role", "the role labeller", "read off the rewrite"].map((text) => element("th", { text }));
  head.push(element("th", { text: "alike", className: "number" }));
  const m = `m = 1 − ${one.distance}/${one.longest} = ${number3(one.judged.match)}`;
  return element("div", { className: "compared" }, [
    element("h3", {}, [one.predicate, bar(one.judged.match), element("span", { className: "score", text: one.longest ? m : "neither finds anything: m = 1" })]),
    ...(rows.length ? [element("table", {}, [element("thead", {}, [element("tr", {}, head)]), element("tbody", {}, rows)])] : []),
    judged(one.judged, "the roles"),
  ]);
}

function whole(answer) {
  return element("div", { className: "compared whole" }, [
    element("h3", {}, ["The whole turn", bar(answer.utterance.match), element("span", { className: "score", text: `m′ = ${number3(answer.utterance.match)}` })]),
    judged(answer.utterance, "the rewrite"),
  ]);
}

function bar(value) {
  return element("meter", { min: 0, max: 1, value: value ?? 0, "aria-label": "agreement" });
}

function judged(one, what) {
  const w = one.weight;
  const sum = one.overall === null
    ? "nothing to match "
    : `overall ${w} · ${number3(one.confidence)} + ${Number((1 - w).toFixed(6))} · ${number3(one.match)} = ${number3(one.overall)}, threshold ${one.threshold}: `;
  const verdict = one.chosen
    ? element("span", { className: "yes", text: `friend-training would learn from ${what}` })
    : element("span", { className: "no", text: `friend-training would not learn from ${what} (${WHY[one.reason] || one.reason})` });
  return element("p", { className: "sum" }, [sum, verdict]);
}

async function begin() {
  byId("turns").value = EXAMPLE.join("\n");
  byId("form").addEventListener("submit", ask);
  const health = await asked("/health");
  byId("served").textContent = `${health.run}, method ${health.method}`;
}

begin();
