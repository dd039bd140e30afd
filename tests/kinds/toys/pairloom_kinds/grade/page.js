import { make } from "../dom.js";

export function makeOutput(value) {
  return make("strong", { class: "grade" }, `grade ${value}`);
}

export function asText(value) {
  return `grade ${value}`;
}
