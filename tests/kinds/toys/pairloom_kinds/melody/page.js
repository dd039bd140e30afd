import { make } from "../dom.js";

export function makeInput(field, saved) {
  const box = make("input", { id: `input-${field.name}`, type: "text" });
  box.value = saved;
  return {
    element: make("div", { class: "field" }, make("label", { for: box.id }, field.name), box),
    values: () => (box.value.trim() ? [box.value.trim()] : []),
    saved: () => box.value,
    focus: () => box.focus(),
  };
}

export function makeAttention({ field, row }) {
  const weights = row[field.attention][0];
  const notes = row[field.tokens].map((note, i) => `${note} ${Math.round(100 * weights[i])}%`);
  return make("p", { class: "melody" }, notes.join(" · "));
}
