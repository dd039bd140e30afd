// The kind `image` on the page, served as /page/kinds/image.js: paths are those of the page.

import { make } from "../dom.js";
import { followDrops } from "../views/files.js";
import { openPicture } from "../views/picture.js";
import { makeRegions } from "../views/regions.js";

const TAKEN = "image/jpeg,image/png,image/gif,image/bmp";
const THUMBNAIL = 96;
// The pictures of each field, which have no place in the address: another version asks about them too.
const kept = new Map();
// What was decoded once need not be again: photos are large.
const opening = new WeakMap();

/** An encoded picture with its file's name; a request has it as TF Serving wants bytes. */
class Picture {
  constructor(name, b64) {
    Object.assign(this, { name, b64 });
  }

  toJSON() {
    return { b64: this.b64 };
  }
}

/** The control for a field: pictures are dropped on it, chosen, taken with a camera or pasted. */
export function makeInput(field) {
  const id = `input-${field.name}`;
  const most = field.details?.most_bytes ?? Infinity;
  const pictures = kept.get(field.name) ?? [];
  kept.set(field.name, pictures);
  const shown = make("ul", { class: "pictures", "aria-label": "Chosen" });
  const wrong = make("p", { class: "wrong", role: "alert", hidden: true });
  const tell = (problems) => {
    wrong.textContent = problems.join(" ");
    wrong.hidden = !problems.length;
  };
  const show = () => {
    shown.replaceChildren(...pictures.map((picture, place) => makeChosen(picture, () => remove(place))));
    shown.hidden = !pictures.length;
  };
  const remove = (place) => {
    pictures.splice(place, 1);
    show();
    choose.focus();
  };
  const take = async (files) => {
    const [good, problems] = await readAll(files, most);
    tell(problems);
    pictures.push(...good);
    show();
  };
  const makeChooser = (name, text, attributes) => {
    const input = make("input", { type: "file", id: name, accept: TAKEN, class: "unseen", ...attributes });
    input.addEventListener("change", async () => {
      await take([...input.files]);
      // So that the same file can be chosen again.
      input.value = "";
    });
    return [input, make("label", { for: name, class: "button" }, text)];
  };
  const [choose, chooseLabel] = makeChooser(id, "Choose a photo", { multiple: true });
  const [camera, cameraLabel] = makeChooser(`${id}-camera`, "Take a photo", { capture: "environment" });
  camera.accept = "image/*";
  const drop = make(
    "div",
    { class: "drop" },
    make("div", { class: "together" }, choose, chooseLabel, make("span", { class: "camera" }, camera, cameraLabel)),
    make("span", { class: "hint" }, `or drop it here, or paste it. ${limits(most)}`),
    shown,
  );
  followDrops(drop, take);
  followPastes(drop, take);
  show();
  return {
    element: make("div", { class: "field" }, make("span", { class: "hint" }, field.name), drop, wrong),
    values: () => [...pictures],
    saved: () => "",
    focus: () => choose.focus(),
  };
}

/** A value as plain text: the name of its file. */
export function asText(value) {
  return value.name ?? "";
}

/** A value in small, to tell one question from another. */
export function makeThumbnail(value) {
  const canvas = make("canvas", { class: "thumbnail", role: "img", "aria-label": asText(value) || "The picture" });
  opened(value).then((drawn) => paintSmall(canvas, drawn), () => canvas.remove());
  return canvas;
}

/** Where the model looked in a picture: `row` are the outputs of one row, `given` its inputs. */
export function makeAttention({ field, output, row, given }) {
  const [rows, columns] = field.details?.grid ?? [0, 0];
  if (!row[field.attention] || !rows) return null;
  return makeRegions(opened(given[field.name]), row[output.tokens], row[field.attention], [rows, columns]);
}

function makeChosen(picture, remove) {
  const button = make("button", { type: "button", "aria-label": `Remove ${picture.name}` }, "×");
  button.addEventListener("click", remove);
  return make("li", {}, makeThumbnail(picture), make("bdi", { class: "hint" }, picture.name), button);
}

/** The files as pictures, and what is wrong with those that are none. */
async function readAll(files, most) {
  const good = [];
  const problems = [];
  for (const file of files) {
    if (file.size > most) {
      problems.push(`${file.name} has ${megabytes(file.size)}, and at most ${megabytes(most)} are taken.`);
      continue;
    }
    const picture = new Picture(file.name, await asBase64(file));
    const opens = await opened(picture).then(() => true, () => false);
    if (opens) good.push(picture);
    else problems.push(`${file.name} is no picture that a browser can open.`);
  }
  return [good, problems];
}

async function asBase64(file) {
  const address = await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
  return address.slice(address.indexOf(",") + 1);
}

/** Takes pictures that are pasted anywhere on the page, for as long as the element is there. */
function followPastes(element, take) {
  const paste = (event) => {
    if (!element.isConnected) return document.removeEventListener("paste", paste);
    const files = [...(event.clipboardData?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    take(files);
  };
  document.addEventListener("paste", paste);
}

function opened(value) {
  if (!opening.has(value)) opening.set(value, openPicture(value.b64));
  return opening.get(value);
}

function paintSmall(canvas, drawn) {
  const factor = Math.min(1, THUMBNAIL / Math.max(drawn.width, drawn.height));
  canvas.width = Math.max(1, Math.round(drawn.width * factor));
  canvas.height = Math.max(1, Math.round(drawn.height * factor));
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(drawn, 0, 0, canvas.width, canvas.height);
}

function limits(most) {
  return Number.isFinite(most) ? `JPEG, PNG, GIF or BMP of at most ${megabytes(most)}.` : "";
}

function megabytes(bytes) {
  const size = bytes / 2 ** 20;
  return size < 0.1 ? `${(bytes / 1024).toFixed(1)} kB` : `${size.toFixed(size < 10 ? 1 : 0)} MB`;
}
