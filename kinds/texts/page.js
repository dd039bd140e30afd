// The kind `texts` on the page, served as /page/kinds/texts.js: paths are those of the page.

import { make } from "../dom.js";
import { makeDocument } from "../views/document.js";

const HELP =
  "A document, whose sentences are found, or a conversation with a line for each utterance.";

/** The control for a field: the whole box is one value. */
export function makeInput(field, saved) {
  const box = make("textarea", {
    id: `input-${field.name}`,
    rows: 6,
    dir: "auto",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    placeholder: HELP,
  });
  box.value = saved;
  const label = make("label", { for: box.id, class: "hint" }, field.name);
  // Lines are what the model reads apart: an end of line around all of them would be one of them.
  const value = () => box.value.replace(/\r\n?/g, "\n").trim();
  return {
    element: make("div", { class: "field" }, label, box),
    values: () => (value() ? [value()] : []),
    saved: () => box.value,
    focus: () => box.focus(),
  };
}

/** A value as plain text. */
export function asText(value) {
  return value;
}

/** Which texts the model looked at, and which of their words: `row` are the outputs of one row. */
export function makeAttention({ field, output, row }) {
  return makeDocument({
    sentences: row[field.tokens],
    attention: row[field.attention] ?? null,
    inner: row[field.inner] ?? null,
    written: row[output.tokens] ?? [],
  });
}
