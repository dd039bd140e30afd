// The kind `label` on the page, served as /page/kinds/label.js: paths are those of the page.

import { fillSelect, make } from "../dom.js";
import { makeBars } from "../views/bars.js";

const MOST_SHOWN = 10;

/** It tells the probability of every label, which says more than the best few of them would. */
export const asks = "serving_default";

/** The control for a field: a choice where the labels are known, else a line to write in. */
export function makeInput(field, saved) {
  const id = `input-${field.name}`;
  const labels = field.details?.labels ?? [];
  const control = labels.length ? make("select", { id }) : makeLine(id);
  if (labels.length) {
    const known = labels.includes(saved) ? saved : "";
    fillSelect(control, [["", "–"], ...labels.map((label) => [label, label])], known);
  } else control.value = saved;
  const value = () => control.value.trim();
  return {
    element: make("div", { class: "field" }, make("label", { for: id, class: "hint" }, field.name), control),
    values: () => (value() ? [value()] : []),
    saved: () => control.value,
    focus: () => control.focus(),
  };
}

/** A label; below it, where the row tells them, the most probable ones. */
export function makeOutput(value, field, row) {
  const label = make("span", { dir: "auto", class: "text" }, value);
  const names = row?.labels ?? field.details?.labels ?? [];
  if (!row?.probabilities || !names.length) return label;
  const all = row.probabilities
    .map((probability, i) => ({ name: names[i], share: probability ?? 0 }))
    .sort((a, b) => b.share - a.share);
  const left = all.length - MOST_SHOWN;
  const bars = makeBars("Probabilities, the greatest first", all.slice(0, MOST_SHOWN));
  return make(
    "div",
    {},
    label,
    bars,
    left > 0 ? make("p", { class: "hint" }, `and ${left} more, less probable`) : null,
  );
}

/** A value as plain text, to compare two of them and to say one aloud. */
export function asText(value) {
  return value;
}

function makeLine(id) {
  return make("input", { id, type: "text", dir: "auto", autocomplete: "off", spellcheck: "false" });
}
