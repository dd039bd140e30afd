// Letters that the vocabulary lacks reach the model as bytes, `<0xE4><0xBD><0xA0>`; people read 你.

const BYTE = /^<0x([0-9A-F]{2})>$/;

/**
 * Joins the bytes of each letter: `[{token, from, to}]`, where `from` to `to` (not included) are
 * the tokens that it stands for. Bytes that make no letter stay as they are.
 */
export function joinBytes(tokens) {
  const joined = [];
  for (let from = 0; from < tokens.length; ) {
    const size = letterSize(tokens[from]);
    const letter = size > 1 ? decode(tokens.slice(from, from + size)) : null;
    const to = from + (letter === null ? 1 : size);
    joined.push({ token: letter ?? tokens[from], from, to });
    from = to;
  }
  return joined;
}

/** Weights `[target][source]` of joined tokens: of a letter read their sum, of one written the mean. */
export function joinWeights(weights, target, source) {
  return target.map((row) =>
    source.map((column) => {
      let sum = 0;
      for (let i = row.from; i < row.to; i++) {
        for (let k = column.from; k < column.to; k++) sum += weights[i][k];
      }
      return sum / (row.to - row.from);
    }),
  );
}

/** How many bytes the letter has that begins with this token; 0 if none does. */
function letterSize(token) {
  const first = parseInt(BYTE.exec(token)?.[1] ?? "0", 16);
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc2 ? 2 : 0;
}

function decode(tokens) {
  const bytes = tokens.map((token) => parseInt(BYTE.exec(token)?.[1] ?? "0", 16));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
  } catch {
    return null;
  }
}
