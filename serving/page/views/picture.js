// Encoded pictures as browsers draw them: upright, whatever their camera noted.

const LONGEST_SIDE = 800;

/** Decodes a picture in base64 to a canvas of its shape, as large as a page needs. */
export async function openPicture(b64) {
  const bytes = Uint8Array.from(atob(b64), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes]));
  const factor = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * factor));
  canvas.height = Math.max(1, Math.round(bitmap.height * factor));
  const context = canvas.getContext("2d");
  // What is transparent lies over white, as the model sees it.
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas;
}
