// The page: what is chosen, what is asked, and where the answers go.

import { readAddress, writeAddress } from "./address.js";
import * as api from "./api.js";
import { fillSelect, make } from "./dom.js";
import { openContinuation } from "./views/continuation.js";
import { openJson } from "./views/json.js";
import { fitsBeside, keyOf } from "./views/comparing.js";
import { loadKinds } from "./views/kinds.js";
import { openPair } from "./views/pair.js";
import { areAnswered, drawPanes, fillPane } from "./views/panes.js";
import { makeVersions } from "./views/versions.js";

const LOOK_AGAIN = 5000;
const at = (id) => document.getElementById(id);

let served = { kinds: [], models: [] };
let looks = 0;
let seen = "";
let runs = {};
let state = readAddress();
let view = null;
let viewKey = "";
let asking = null;
// What the panes answer, or are about to.
let asked = null;

/**
 * The model and the versions that the state means: those that are served, or null.
 *
 * `asked` is the version to ask for. It is empty where none was chosen: then the server takes its
 * newest, which may be another one by then.
 */
function chosen() {
  const model = served.models.find(({ name }) => name === state.model) ?? served.models[0] ?? null;
  const available = availableOf(model);
  const pinned = available.find(({ version }) => version === state.version) ?? null;
  const newest = available.length ? { ...available[0], asked: "" } : null;
  const first = pinned ? { ...pinned, asked: pinned.version } : newest;
  // What may stand beside it: the versions of this model, then those of others.
  const others = served.models.filter((other) => other !== model).flatMap(availableOf);
  const beside = [...available, ...others.filter((version) => fitsBeside(version, first))];
  const second = beside.length > 1 ? beside.find((version) => keyOf(version, model) === state.beside) : null;
  const versions = [first, second && { ...second, asked: second.version }].filter(Boolean);
  return { model, available, beside, versions };
}

function availableOf(model) {
  return (model?.versions ?? []).filter((version) => version.state === "AVAILABLE");
}

/** Draws what is chosen; false if another choice was made, and drawn, meanwhile. */
async function draw() {
  const { model, available, beside, versions } = chosen();
  const [first, second] = versions;
  fillSelect(at("model"), served.models.map(({ name }) => [name, name]), model?.name ?? "");
  const choices = available.map(({ version, labels }) => [version, [version, ...labels].join(" · ")]);
  fillSelect(at("version"), [["", "newest"], ...choices], first?.asked ?? "");
  const compared = beside.map((version) => {
    const named = version.model === model.name ? [] : [version.model];
    return [keyOf(version, model), [...named, version.version, ...version.labels].join(" · ")];
  });
  fillSelect(at("compared"), compared, second ? keyOf(second, model) : "");
  at("first").hidden = !first;
  at("second").hidden = !second;
  at("compare").hidden = !first;
  at("compare").disabled = beside.length < 2;
  at("compare").title = beside.length < 2 ? "No other version or model with the same fields is served." : "";
  at("compare").setAttribute("aria-pressed", String(Boolean(second)));
  document.title = model ? `${model.name} · pairloom` : "pairloom";
  drawNotice(model, first);
  at("about").hidden = !model?.versions.length;
  at("about").open ||= Boolean(model && !first);
  at("versions").replaceChildren(makeVersions(model?.versions ?? [], runs[model?.name] ?? {}));
  if (!(await openView(model, first))) return false;
  // With the same form another version may have been chosen meanwhile.
  const now = chosen();
  drawPanes(at("panes"), served.models, now.versions, runs, asked !== null);
  return true;
}

function drawNotice(model, first) {
  let text = "";
  if (!model) text = "No model is configured on this server.";
  else if (state.model && state.model !== model.name) {
    text = `${state.model} is not served; this is ${model.name}.`;
  } else if (!first) text = `No version of ${model.name} is served yet.`;
  else if (state.version && state.version !== first.version) {
    text = `Version ${state.version} of ${model.name} is not served; this is ${first.version}.`;
  }
  showNotice(text);
}

function showNotice(text) {
  if (at("notice").textContent !== text) at("notice").textContent = text;
  at("notice").hidden = !text;
}

/**
 * The form of the chosen version; it is made anew only when that needs another one.
 *
 * @returns Whether it is still the form that is wanted.
 */
async function openView(model, version) {
  at("form").hidden = !version;
  const needs = version && [model.name, version.description ?? version.signatures];
  const key = JSON.stringify(needs);
  if (key === viewKey) return true;
  if (view) state.inputs = { ...state.inputs, ...view.saved() };
  viewKey = key;
  view = null;
  at("inputs").replaceChildren();
  if (!version) return true;
  try {
    const kinds = await loadKinds(version.description, served.kinds);
    const ours = version.description?.inputs.length ? openPair : openContinuation;
    const open = kinds ? ours : openJson;
    const opened = await open({ model: model.name, version, saved: state.inputs, kinds });
    if (key !== viewKey) return false;
    view = opened;
    asked = asking && !view.waits ? view.request() : null;
  } catch (error) {
    if (key !== viewKey) return false;
    viewKey = "";
    throw error;
  }
  at("inputs").replaceChildren(...view.elements);
  return true;
}

/** Asks what stands in the form. */
function send() {
  const request = view?.request();
  giveUp();
  if (!request) return view?.focus();
  remember();
  return ask(request);
}

/** Asks every pane's version; whatever was under way is given up. */
async function ask(request) {
  const { versions } = chosen();
  giveUp();
  asked = request;
  const mine = (asking = new AbortController());
  at("said").textContent = "Asking …";
  document.body.classList.add("busy");
  const panes = [...at("panes").children];
  const found = await Promise.all(
    versions.map((version, i) => answer(request, version, panes[i], mine.signal)),
  );
  if (mine.signal.aborted) return;
  document.body.classList.remove("busy");
  if (found.length === 2 && found.every(Boolean)) view.compare?.(...found);
  at("said").textContent = found[0]?.said ?? "No answer.";
  // An answer does not tell its version. It was another one's if the newest is another by now.
  await look();
}

function giveUp() {
  asking?.abort();
  document.body.classList.remove("busy");
}

/** The old answer stays until there is something to take its place. */
async function answer(request, version, pane, signal) {
  let shown = null;
  const fill = (...elements) => {
    fillPane(pane, version, runs[version.model]?.[version.version], elements);
  };
  try {
    return await view.answer(request, version.model, version, (element) => fill((shown = element)), signal);
  } catch (error) {
    if (signal.aborted) return null;
    const notice = make("p", { class: "notice", role: "alert" }, error.message);
    fill(...(shown ? [shown, notice] : [notice]));
    return null;
  }
}

function remember() {
  if (view) state.inputs = { ...state.inputs, ...view.saved() };
  writeAddress({ ...state, inputs: view ? view.saved() : {} });
}

/** Another choice: the form keeps what was written, and what was asked is asked again. */
async function choose(change) {
  giveUp();
  if (view && asked) asked = view.request();
  Object.assign(state, change);
  if (!(await redraw())) return;
  remember();
  if (asked) await ask(asked);
}

/** Draws, or tells why not; false if there is nothing to go on with. */
async function redraw() {
  try {
    return await draw();
  } catch (error) {
    showNotice(error.message);
    return false;
  }
}

function toggleCompare() {
  const { model, beside, versions } = chosen();
  const other = beside.find((version) => keyOf(version, model) !== versions[0]?.version);
  return choose({ beside: versions[1] || !other ? "" : keyOf(other, model) });
}

/** Looks at the server; draws only what has changed, and asks a version that is new. */
async function look() {
  const mine = ++looks;
  try {
    const found = await api.models();
    const now = JSON.stringify(found);
    if (mine !== looks || now === seen) return;
    served = found;
    seen = now;
    const drawn = await draw();
    readRuns();
    if (!drawn || !asked) return;
    const busy = document.body.classList.contains("busy");
    if (!areAnswered(at("panes"), chosen().versions, busy)) await ask(asked);
  } catch (error) {
    if (mine !== looks) return;
    seen = "";
    showNotice(error.message);
  }
}

/** Scores come later than the page, and the page does without them if it must. */
async function readRuns() {
  try {
    runs = await api.runs();
    await draw();
  } catch {
    runs = {};
  }
}

/** Shows the field for a token; all who wait for it get the same one. */
let wanted = null;
function askForToken(refused) {
  wanted ??= new Promise((resolve) => {
    const form = at("token-form");
    form.hidden = false;
    form.querySelector("label").textContent = refused
      ? "The server does not take this token. Give another one."
      : "This server asks for a token. It is kept until you leave the page.";
    at("token").focus();
    form.onsubmit = (event) => {
      event.preventDefault();
      form.hidden = true;
      wanted = null;
      resolve(at("token").value);
      at("token").value = "";
    };
  });
  return wanted;
}

async function start() {
  api.onUnauthorized(askForToken);
  at("form").addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send();
    }
  });
  at("model").addEventListener("change", (event) =>
    choose({ model: event.target.value, version: "", beside: "" }),
  );
  at("version").addEventListener("change", (event) => choose({ version: event.target.value }));
  at("compared").addEventListener("change", (event) => choose({ beside: event.target.value }));
  at("compare").addEventListener("click", toggleCompare);
  addEventListener("hashchange", async () => {
    state = readAddress();
    view = null;
    viewKey = "";
    giveUp();
    if ((await redraw()) && Object.values(state.inputs).some(Boolean)) send();
  });
  await look();
  if (Object.values(state.inputs).some(Boolean)) send();
  else view?.focus();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN));
    if (!document.hidden) await look();
  }
}

start();
