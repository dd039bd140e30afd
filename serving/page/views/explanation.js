// Where the model looked: each field that it looked at, drawn by the field's own kind.

import { make } from "../dom.js";

/** The fields that there is something to draw of. */
export function lookedAt({ inputs }) {
  return inputs.filter((field) => field.attention || field.inner);
}

/**
 * Draws all of them; under their names where the model reads several.
 *
 * @param description The model's.
 * @param kinds As of views/kinds.js.
 * @param row The outputs of one row, of `explain` or `score`.
 * @param given The inputs of the row.
 */
export function makeExplanation({ inputs, output }, kinds, row, given) {
  return inputs.flatMap((field, i) => {
    if (!field.attention && !field.inner) return [];
    const drawing = kinds.inputs[i].makeAttention?.({ field, output, row, given });
    if (!drawing) return [];
    if (inputs.length === 1) return [drawing];
    const heading = make("h3", { class: "looked-at" }, make("bdi", {}, field.name));
    return [make("section", { "aria-label": field.name }, heading, drawing)];
  });
}
