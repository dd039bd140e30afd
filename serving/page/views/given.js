// What was asked, in a line: a small picture of what has one, and all else in words.

import { make } from "../dom.js";

/**
 * @param inputs The fields of the model's description.
 * @param kinds As of views/kinds.js.
 * @param row Their values.
 */
export function makeGiven(inputs, kinds, row) {
  const parts = inputs.map(({ name }, i) => {
    const kind = kinds.inputs[i];
    const text = asText(kind, row[name]);
    return kind.makeThumbnail ? [kind.makeThumbnail(row[name]), text && ` ${text}`] : [text];
  });
  const apart = parts.flatMap((part, i) => (i ? [" · ", ...part] : part));
  return make("span", { class: "given hint", dir: "auto" }, ...apart);
}

/** A value as plain text, as its kind writes it. */
export function asText(kind, value) {
  if (value == null) return "";
  if (kind.asText) return kind.asText(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}
