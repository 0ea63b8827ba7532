// The queue: what a person should look at next, one after the other. Answers are corrections, as everywhere on the page.
"use strict";

const queue = { on: false, audit: "", last: null };

async function askQueue(signal) {
  const answer = await ask("/api/queue", { task: state.task, iteration: state.iteration }, { signal });
  queue.audit = answer.audit;
  return { ...answer, found: answer.units.length };
}

function drawQueue() {
  $("queue").setAttribute("aria-pressed", String(queue.on));
  $("audit").hidden = !queue.on;
  $("audit").textContent = queue.on ? `${queue.audit} Keys: a accept, x reject, e correct, n next, u the last one again.` : "";
  for (const id of ["page-number", "previous", "next"]) $(id).hidden = queue.on;
  for (const id of ["sort", "direction"]) $(id).disabled = queue.on;
  if (!queue.on) return;
  $("found").textContent = state.units.length === 1 ? "1 to look at" : `${count(state.units.length)} to look at`;
  if (!state.units.length) $("detail").replaceChildren(el("p", { className: "note" }, "Nothing is left to look at."));
}

function toggleQueue() {
  queue.on = !queue.on;
  Object.assign(state, { unit: null, shown: null, draft: null, page: 0 });
  showUnits();
}

// What comes after a unit is looked at next, whether it was answered or left for later.
function following(unit) {
  const place = state.units.findIndex((one) => one.unit === unit);
  return state.units[place + 1] ?? state.units.find((one) => one.unit !== unit) ?? null;
}

async function nextInQueue(answered) {
  const next = following(state.unit);
  if (answered) queue.last = state.unit;
  state.unit = next ? next.unit : null;
  if (next) await showUnit(next.unit);
  if (answered) showAll();
  markCurrent();
}

function lastAgain() {
  if (queue.last) showUnit(queue.last).then(markCurrent);
}
