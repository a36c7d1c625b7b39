/* The trace's data: groups of columns, as docs/architecture/page.md describes them, from the page or a server. */
function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/* Differences, zigzag-coded, seven bits a byte.  Numbers beyond 2^53 lose their last bits. */
function decodeColumn(bytes, place, count) {
  const out = new Float64Array(count);
  let value = 0;
  for (let i = 0; i < count; i++) {
    let byte = bytes[place++];
    if (byte < 128) {
      value += byte & 1 ? -(byte >> 1) - 1 : byte >> 1;
    } else {
      let z = byte & 127, scale = 128;
      do {
        byte = bytes[place++];
        z += (byte & 127) * scale;
        scale *= 128;
      } while (byte > 127);
      const half = Math.floor(z / 2);
      value += z % 2 ? -half - 1 : half;
    }
    out[i] = value;
  }
  return out;
}

/* A group: its JSON as properties of `facts`, and column(name) as an array, decoded once. */
function readGroup(bytes) {
  const start = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const facts = JSON.parse(new TextDecoder().decode(bytes.subarray(4, start)));
  const done = new Map();
  function column(name) {
    if (!done.has(name)) {
      const [place, count] = facts.columns[name] || [0, 0];
      done.set(name, decodeColumn(bytes, start + place, count));
    }
    return done.get(name);
  }
  return { facts, column, has: (name) => name in facts.columns };
}

async function loadPart(name, root = document) {
  const element = root.getElementById("data-" + name);
  const bytes = fromBase64(element.textContent);
  element.remove();
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return readGroup(new Uint8Array(await new Response(stream).arrayBuffer()));
}

/* From hr view --serve. */
async function fetchPart(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw answerError(answer, url + ": " + answer.status);
  return readGroup(new Uint8Array(await answer.arrayBuffer()));
}
