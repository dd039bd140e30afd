// The examples of a report: drawn by the same modules as on the served page, from values in the file.

import { make, shownNumber } from "./dom.js";
import { lookedAt, makeExplanation } from "./views/explanation.js";
import { asText, makeGiven } from "./views/given.js";

const TITLES = {
  best: "The best",
  worst: "The worst",
  random: "Drawn by lot",
};
const READ = {
  best: "The most likely",
  worst: "The least likely",
  random: "Drawn by lot",
};

const asked = JSON.parse(document.querySelector("#examples").textContent);
const place = document.querySelector("#shown");

try {
  place.replaceChildren(...(await makeAll(asked)));
} catch (error) {
  place.replaceChildren(make("p", { class: "notice" }, `The examples cannot be drawn: ${error.message}`));
}

async function makeAll({ description, metric, groups, samples }) {
  const kinds = await loadKinds(description);
  const titles = description.inputs.length ? TITLES : READ;
  const made = (samples ?? []).map((value) => make("li", {}, drawValue(kinds.output, value, description.output)));
  const shown = Object.entries(groups).map(([why, examples]) =>
    make(
      "section",
      { class: `group ${why}` },
      make("h3", {}, titles[why] ?? why),
      ...examples.map((example) => makeExample(example, description, kinds, metric)),
    ),
  );
  if (!made.length) return shown;
  return [
    make("h3", {}, "Made up by the model"),
    make("ul", { class: "samples" }, ...made),
    make("h3", {}, "Held-out texts, as the model reads them"),
    ...shown,
  ];
}

/** What each field's kind can draw; a kind without a part for the page draws nothing. */
async function loadKinds({ inputs, output }) {
  const load = ({ kind }) => import(`pairloom/kinds/${kind}.js`).catch(() => ({}));
  return { inputs: await Promise.all(inputs.map(load)), output: await load(output) };
}

/** One example: closed, it is a line; opened, all that there is to see of it. */
function makeExample(example, description, kinds, metric) {
  const { inputs } = description;
  const [first] = example.references;
  const line = inputs.length ? asText(kinds.output, example.value) : asText(kinds.output, first);
  const digits = Math.abs(example.measured) < 1 ? 4 : 2;
  const measured =
    metric && typeof example.measured === "number"
      ? make("span", { class: "score" }, `${metric} ${shownNumber(example.measured, digits)}`)
      : null;
  const details = make(
    "details",
    { class: "answer" },
    make(
      "summary",
      {},
      inputs.length ? makeGiven(inputs, kinds, example.given) : null,
      make("span", { class: "best", dir: "auto" }, line || "∅"),
      measured,
    ),
  );
  const fill = () => details.append(...tell(example, description, kinds));
  // A drawing that nobody looks at costs time, and has no size to fit into.
  details.addEventListener("toggle", fill, { once: true });
  return details;
}

function tell(example, description, kinds) {
  const { inputs, output } = description;
  const parts = [];
  if (inputs.length) {
    // What is looked at is drawn below, in full.
    inputs.forEach((field, i) => {
      const drawn = field.attention || field.inner;
      const given = asText(kinds.inputs[i], example.given[field.name]);
      if (!drawn) parts.push(named(field.name, make("span", { class: "text", dir: "auto" }, given)));
    });
    parts.push(named("answer", drawValue(kinds.output, example.value, output, example.row, example.given)));
    const right = example.references.map((value) => drawValue(kinds.output, value, output, {}));
    parts.push(named(right.length > 1 ? "right answers" : "right answer", ...right));
    if (lookedAt(description).length) parts.push(...makeExplanation(description, kinds, example.row, example.given));
  } else {
    const drawing = kinds.output.makeActivation?.({ output, row: example.row }, {});
    parts.push(drawing ?? drawValue(kinds.output, example.references[0], output));
  }
  if (!example.whole) {
    parts.push(make("p", { class: "hint" }, "Its weights would make this file too large, and are left out."));
  }
  return parts;
}

function named(name, ...values) {
  const items = values.map((value) => make("div", { class: "value" }, value));
  return make("div", { class: "told" }, make("span", { class: "hint" }, name), make("div", {}, ...items));
}

function drawValue(kind, value, field, row, given) {
  if (value == null) return make("span", { class: "text empty" }, "no answer");
  if (kind.makeOutput) return kind.makeOutput(value, field, row, given);
  return make("span", { class: "text", dir: "auto" }, asText(kind, value));
}
