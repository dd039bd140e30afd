// The kind `text` on the page, served as /page/kinds/text.js: paths are those of the page.

import { make } from "../dom.js";
import { makeActivation as drawActivation } from "../views/activation.js";
import { makeHeatmap } from "../views/heatmap.js";

/** The control for a field: its element, its values (one for each line) and what to remember. */
export function makeInput(field, saved) {
  const box = makeBox(field, saved, "Type or paste text; each line is answered by itself.");
  return {
    element: box.element,
    values: () => box.text().split(/\r?\n/).map((line) => line.trim()).filter(Boolean),
    saved: box.text,
    focus: box.focus,
  };
}

/** The control for what an answer begins with: one value, as it stands, which may be empty. */
export function makeBeginning(field, saved) {
  const box = makeBox(field, saved, "What the text begins with; nothing is fine too.");
  return {
    element: box.element,
    values: () => [box.text()],
    saved: box.text,
    focus: box.focus,
  };
}

/** A value of this kind, as the model wrote it. */
export function makeOutput(value) {
  const empty = value === "";
  return make("span", { dir: "auto", class: empty ? "text empty" : "text" }, empty ? "∅" : value);
}

/** A value as plain text, to compare two of them and to say one aloud. */
export function asText(value) {
  return value;
}

/** Where the model looked in a text: `row` are the outputs of one row. */
export function makeAttention({ field, output, row }) {
  if (!field.attention || !row[field.attention]) return null;
  return makeHeatmap(row[field.tokens], row[output.tokens], row[field.attention]);
}

/**
 * What the model's units did over a text that it wrote or was given; null where that is not told.
 *
 * @param options As of views/activation.js.
 */
export function makeActivation({ output, row }, options) {
  if (!row.activations) return null;
  return drawActivation(row[output.tokens], row.activations, row.token_scores, options);
}

function makeBox(field, saved, placeholder) {
  const box = make("textarea", {
    id: `input-${field.name}`,
    rows: 3,
    dir: "auto",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    placeholder,
  });
  box.value = saved;
  const label = make("label", { for: box.id, class: "hint" }, field.name);
  return {
    element: make("div", { class: "field" }, label, box),
    text: () => box.value,
    focus: () => box.focus(),
  };
}
