// The kind `text`: a box to write in, a line a text; and how such a text is shown and aligned.

import { make } from "../dom.js";
import { makeHeatmap } from "../views/heatmap.js";

/** The control for a field: its element, its values (one for each line) and what to remember. */
export function makeInput(field, saved) {
  const box = make("textarea", {
    id: `input-${field.name}`,
    rows: 3,
    dir: "auto",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    placeholder: "Type or paste text; each line is answered by itself.",
  });
  box.value = saved;
  const label = make("label", { for: box.id, class: "hint" }, field.name);
  return {
    element: make("div", { class: "field" }, label, box),
    values: () => box.value.split(/\r?\n/).map((line) => line.trim()).filter(Boolean),
    saved: () => box.value,
    focus: () => box.focus(),
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

/** Where the model looked, where this kind was read: `outputs` are those of one row. */
export function makeAttention(outputs) {
  return makeHeatmap(outputs.source_tokens, outputs.target_tokens, outputs.attention);
}
