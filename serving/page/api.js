// All that goes over the network, in one place. Where a version is empty the server takes its newest.

const root = new URL("..", import.meta.url);
let token = "";
let askForToken = null;

/** Tells what to do when the server wants a token: a function that promises one. */
export function onUnauthorized(ask) {
  askForToken = ask;
}

/** The models with their versions and fields, and the kinds that the page has a view for. */
export function models() {
  return read("page/models.json");
}

/** The scores of the runs that made the versions: model to version to scores. */
export function runs() {
  return read("page/runs.json");
}

/** The signatures of a version, as TF Serving tells them. */
export async function signatures(model, version) {
  const answer = await read(`${path(model, version)}/metadata`);
  return answer.metadata.signature_def.signature_def;
}

/** Asks a signature by columns, `{source: ["a", "b"]}`; gives its outputs by name. */
export async function ask(model, version, signature, inputs, signal) {
  const body = JSON.stringify({ signature_name: signature, inputs });
  const answer = parse(await send(`${path(model, version)}:predict`, body, signal));
  return answer.outputs;
}

/** Posts a body as it is; gives the answer's text as it came. */
export function askRaw(model, version, body, signal) {
  return send(`${path(model, version)}:predict`, body, signal);
}

function path(model, version) {
  const of = version ? `/versions/${encodeURIComponent(version)}` : "";
  return `v1/models/${encodeURIComponent(model)}${of}`;
}

async function read(where) {
  return parse(await send(where));
}

function headers() {
  return token ? { Authorization: `Bearer ${token}` } : {};
}

async function send(where, body, signal) {
  const method = body === undefined ? "GET" : "POST";
  let answer;
  try {
    answer = await fetch(new URL(where, root), { method, body, signal, headers: headers() });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer. Is it still running?");
  }
  const text = await answer.text();
  if (answer.status === 401 && askForToken) {
    token = await askForToken(token !== "");
    return send(where, body, signal);
  }
  if (!answer.ok) throw new Error(reason(text) || `The server answered with status ${answer.status}.`);
  return text;
}

function parse(text) {
  for (const candidate of [() => text, () => finite(text)]) {
    try {
      return JSON.parse(candidate());
    } catch {
      // The next one, or the error below.
    }
  }
  throw new Error(`Expected JSON from the server. Received: ${text.slice(0, 200)}`);
}

/** TF Serving writes numbers that JSON does not have, such as the score of what cannot be: null. */
function finite(text) {
  const found = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g;
  return text.replace(found, (part) => (part.startsWith('"') ? part : "null"));
}

function reason(text) {
  try {
    return JSON.parse(text).error;
  } catch {
    return text;
  }
}
