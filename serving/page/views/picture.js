// Encoded pictures as browsers draw them: upright, whatever their camera noted.

const LONGEST_SIDE = 800;

/**
 * Decodes a picture; its canvas has the picture's shape, at most `longest` pixels wide and high.
 *
 * @param b64 The encoded picture in base64.
 */
export async function openPicture(b64, longest = LONGEST_SIDE) {
  const bytes = Uint8Array.from(atob(b64), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes]));
  const factor = Math.min(1, longest / Math.max(bitmap.width, bitmap.height));
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
