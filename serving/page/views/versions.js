// What is known of the versions: how they fare, and the scores of the runs that made them.

import { make, shownNumber } from "../dom.js";

const STATES = {
  START: "waiting",
  LOADING: "loading",
  AVAILABLE: "serving",
  UNLOADING: "unloading",
  END: "ended",
};

/** A version's state in a word, with a dot whose colour repeats it. */
export function makeState(version) {
  const failed = version.state !== "AVAILABLE" && version.error;
  const kind = failed ? "failed" : version.state.toLowerCase();
  return make("span", { class: `state ${kind}` }, failed ? "failed" : (STATES[version.state] ?? version.state));
}

/** The line above an answer: which version, how it fares, how good it is. */
export function makeHeading(version, run) {
  const labels = version.labels.map((label) => make("span", { class: "label" }, label));
  return make(
    "header",
    { class: "about-version" },
    make("h2", {}, make("bdi", {}, version.model), " ", make("span", { class: "number" }, version.version)),
    makeState(version),
    ...labels,
    run ? makeScores(run) : null,
  );
}

function makeScores(run) {
  const pairs = Object.entries(run.scores).map(([name, value]) =>
    make("div", {}, make("dt", {}, plain(name)), make("dd", {}, shownNumber(value))),
  );
  const when = `${shownDate(run.started)}, ${shownTime(run.seconds)}`;
  const made = make("div", {}, make("dt", {}, "run"), make("dd", {}, when));
  return make("dl", { class: "scores" }, ...pairs, made);
}

/** A table of all versions; `runs` is version to scores. */
export function makeVersions(versions, runs) {
  const metrics = [...new Set(Object.values(runs).flatMap((run) => Object.keys(run.scores)))];
  const timed = Object.keys(runs).length > 0;
  const heads = ["version", "state", ...metrics.map(plain), ...(timed ? ["run", "took"] : [])];
  const body = versions.map((version) => {
    const run = runs[version.version];
    const state = make("td", {}, makeState(version));
    for (const label of version.labels) state.append(" ", make("span", { class: "label" }, label));
    if (version.error) state.append(make("div", { class: "error" }, version.error));
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, version.version),
      state,
      ...metrics.map((name) => make("td", {}, shownNumber(run?.scores[name]))),
      ...(timed ? [shownDate(run?.started), shownTime(run?.seconds)] : []).map((text) =>
        make("td", {}, text),
      ),
    );
  });
  return make(
    "table",
    {},
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...body),
  );
}

function plain(name) {
  return name.replaceAll("_", " ");
}

function shownDate(text) {
  const date = new Date(text ?? NaN);
  if (Number.isNaN(date.getTime())) return "–";
  return date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

function shownTime(seconds) {
  if (typeof seconds !== "number") return "–";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
